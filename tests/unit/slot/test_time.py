"""Broker time and timers: what the wall clock says never matters."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bridge.kafka.clock import BrokerClock, OnlookerClock
from bridge.slot.timers import Timers


class _Monotonic:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_clock_runs_on_between_stamps() -> None:
    """Two stamps and the time between them on the monotonic clock."""
    monotonic = _Monotonic()
    clock = BrokerClock(monotonic)
    clock.learn(1_000_000)
    monotonic.seconds += 1.5
    assert clock.now() == 1_001_500
    clock.learn(1_002_000)
    assert clock.now() == 1_002_000


def test_clock_never_goes_back() -> None:
    """A stamp of a broker that is behind must not un-expire anything."""
    monotonic = _Monotonic()
    clock = BrokerClock(monotonic)
    clock.learn(1_000_000)
    monotonic.seconds += 10
    clock.learn(1_000_001)
    assert clock.now() == 1_010_000


def test_skew_is_the_wall_clock_ahead_of_the_broker() -> None:
    """Two hours off are two hours in the metric, and nowhere else."""
    monotonic = _Monotonic()
    clock = BrokerClock(monotonic)
    clock.learn(1_000_000)
    assert clock.skew_seconds(1_000 + 7_200) == 7_200
    monotonic.seconds += 30
    assert clock.skew_seconds(1_030 - 7_200) == -7_200


def test_skew_is_unknown_before_a_broker_has_told_the_time() -> None:
    """It is no number: 0 would say that the clock is right."""
    clock = BrokerClock(_Monotonic())
    assert not clock.is_set
    assert clock.skew_seconds(1_000) is None
    clock.learn(1_000_000)
    assert clock.is_set


def test_skew_follows_a_broker_whose_clock_was_set_back() -> None:
    """What is decided waits for it to catch up; what is shown of clocks does not."""
    clock = BrokerClock(_Monotonic())
    clock.learn(8_200_000)
    clock.learn(1_000_000)
    assert clock.now() == 8_200_000
    assert clock.skew_seconds(1_000) == 0


@pytest.mark.parametrize("off", [-7_200, 0, 7_200])
def test_a_cluster_that_tells_the_time_makes_the_wall_clock_irrelevant(off: int) -> None:
    monotonic = _Monotonic()
    clock = OnlookerClock(5_000, lambda: 5 + off, monotonic)
    monotonic.seconds += 2
    assert clock.now() == datetime(1970, 1, 1, 0, 0, 7, tzinfo=UTC)


def test_without_its_word_nothing_is_younger_than_what_was_read() -> None:
    """A clock that is behind would show a question that has waited for less than nothing."""
    monotonic = _Monotonic()
    clock = OnlookerClock(None, lambda: 5.0, monotonic)
    assert clock.now() == datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)
    clock.read(4_000)
    assert clock.now() == datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)
    clock.read(60_000)
    monotonic.seconds += 1
    assert clock.now() == datetime(1970, 1, 1, 0, 1, 1, tzinfo=UTC)


def test_timers_come_up_in_order_and_only_when_due() -> None:
    """The heap gives the earliest first and keeps what is still to come."""
    timers = Timers()
    timers.add(30, b"c")
    timers.add(10, b"a")
    timers.order()
    timers.add(20, b"b")
    assert timers.next_at() == 10
    assert [timers.due(20), timers.due(20), timers.due(20)] == [(10, b"a"), (20, b"b"), None]
    assert len(timers) == 1


def test_overdue_counts_what_is_due_and_still_there() -> None:
    """The figure for timers held after a takeover; bounded, whatever the size of the heap."""
    timers = Timers()
    timers.order()
    for at in range(5_000):
        timers.add(at, b"k")
    assert timers.overdue(9) == 10
    assert timers.overdue(10_000, most=100) == 100
