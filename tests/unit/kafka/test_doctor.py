"""What the doctor says of what it found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.config import Worker
from bridge.kafka.doctor import judge_clock, judge_positions, judge_settings
from bridge.kafka.positions import Standing

GOOD = {
    "auto.create.topics.enable": "false",
    "group.max.session.timeout.ms": "1800000",
    "group.min.session.timeout.ms": "6000",
    "producer.id.expiration.ms": "86400000",
    "transaction.max.timeout.ms": "900000",
    "transaction.state.log.replication.factor": "3",
    "transactional.id.expiration.ms": "604800000",
}


def test_the_defaults_of_kafka_fit_the_defaults_of_a_worker() -> None:
    assert list(judge_settings(GOOD, 3, Worker())) == []


@pytest.mark.parametrize(
    ("name", "value", "grade"),
    [
        ("group.min.session.timeout.ms", "10000", "fail"),
        ("group.max.session.timeout.ms", "5000", "fail"),
        ("transaction.max.timeout.ms", "14999", "fail"),
        ("transactional.id.expiration.ms", "3599999", "fail"),
        ("producer.id.expiration.ms", "86400001", "warn"),
        ("transaction.state.log.replication.factor", "1", "warn"),
        ("auto.create.topics.enable", "true", "warn"),
    ],
)
def test_each_setting_that_does_not_fit_is_named_with_its_remedy(
    name: str, value: str, grade: str
) -> None:
    (check,) = judge_settings(GOOD | {name: value}, 3, Worker())
    assert (check.grade, check.subject) == (grade, name)
    assert check.advice


def test_one_broker_may_keep_one_copy() -> None:
    """What a development cluster cannot have is not asked of it."""
    single = GOOD | {"transaction.state.log.replication.factor": "1"}
    assert list(judge_settings(single, 1, Worker())) == []


@pytest.mark.parametrize(
    ("stamp", "grade", "found"),
    [
        (100_500, "ok", "0.0 s"),
        (98_500, "ok", "1.5 s ahead of"),
        (97_000, "warn", "3.0 s ahead of"),
        (104_000, "warn", "3.0 s behind"),
    ],
)
def test_a_stamp_between_before_and_after_is_no_difference(
    stamp: int, grade: str, found: str
) -> None:
    """The commit took a second, and a clock cannot be told better than that."""
    check = judge_clock(stamp, before=100_000, after=101_000)
    assert check.grade == grade
    assert found in check.found


def test_lost_positions_fail_by_slot_and_lag_does_not() -> None:
    lost = Standing(3, "events", 3, position=1, begin=5, end=9)
    start = Standing(0, "events", 0, position=0, begin=0, end=9)
    behind = replace(start, position=1)
    (check,) = judge_positions([start, lost], [behind, lost])
    assert (check.grade, check.found) == ("fail", "slot 3 has lost 1")
    assert "positions skip --slot 3" in check.advice
    (check,) = judge_positions([start], [behind])
    assert (check.grade, check.found) == ("ok", "none lost, 8 offsets left to read")


STUCK = Standing(3, "events", 3, position=1, begin=0, end=9)


def test_a_slot_that_reads_nothing_of_what_there_is_is_named() -> None:
    """Its worker keeps the seat in the group, so only the positions tell; others may be well."""
    busy = Standing(0, "events", 0, position=1, begin=0, end=9)
    (check,) = judge_positions([STUCK, busy], [STUCK, replace(busy, position=2)])
    assert (check.grade, check.subject) == ("warn", "positions")
    assert check.found == "slot 3 has 8 offsets left to read and reads none"
    assert "log" in check.advice


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([replace(STUCK, end=1)], [STUCK]),  # it came just now
        ([STUCK, replace(STUCK, topic="b")], [STUCK, replace(STUCK, topic="b", position=5)]),
        ([replace(STUCK, position=None)], [replace(STUCK, position=None)]),  # never opened
        ([STUCK], [replace(STUCK, position=9)]),
    ],
)
def test_a_slot_that_moves_anywhere_is_at_work(before: list[Standing], now: list[Standing]) -> None:
    (check,) = judge_positions(before, now)
    assert check.grade == "ok"
