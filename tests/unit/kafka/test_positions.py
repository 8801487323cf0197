"""Which positions an operator's word moves, and what it says of them."""

from __future__ import annotations

import pytest

from bridge.errors import ConfigError
from bridge.kafka.positions import Standing, choose

GOOD = Standing(0, "events", 0, position=5, begin=0, end=9)
LOST = Standing(0, "events", 2, position=5, begin=7, end=9)
BEYOND = Standing(1, "events", 1, position=50, begin=0, end=9)
VANISHED = Standing(0, "events", 4, position=5, begin=None, end=None)
NEW = Standing(0, "answers", 0, position=None, begin=0, end=9)
ALL = [GOOD, LOST, BEYOND, VANISHED, NEW]


def test_what_counts_as_lost() -> None:
    """Before the beginning, behind the end, or on a partition that is not there any more."""
    assert [at for at in ALL if at.lost] == [LOST, BEYOND, VANISHED]


def test_lag_counts_what_can_still_be_read() -> None:
    assert [at.lag for at in ALL] == [4, 2, 0, None, None]


def test_what_waits_behind_an_open_transaction_is_lag() -> None:
    blocked = Standing(0, "events", 0, position=9, begin=0, end=9, high=14)
    assert (blocked.lag, blocked.lost) == (5, False)


def test_without_a_name_only_what_is_lost_moves() -> None:
    """The command in the error message cannot make a healthy partition skip anything."""
    moves = choose(ALL, 0, "earliest", None, None)
    assert [(move.standing, move.to) for move in moves] == [(LOST, 7), (VANISHED, None)]
    assert [move.to for move in choose(ALL, 1, "latest", None, None)] == [9]


def test_a_named_partition_moves_whether_lost_or_not() -> None:
    assert [move.to for move in choose(ALL, 0, "latest", "events", 0)] == [9]
    assert [move.to for move in choose(ALL, 0, 3, "events", 0)] == [3]
    assert [move.to for move in choose(ALL, 0, "earliest", "events", None)] == [0, 7, None]


@pytest.mark.parametrize(
    ("to", "topic", "partition", "said"),
    [
        (3, None, None, "--to: an offset needs"),
        (3, "events", None, "--to: an offset needs"),
        (10, "events", 0, "holds 0 to 9, not 10"),
        ("earliest", "events", 1, "slot 0 does not read events/1"),
        ("earliest", "evnets", None, "slot 0 does not read evnets"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    to: int, topic: str | None, partition: int | None, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        choose(ALL, 0, to, topic, partition)


def test_a_move_says_what_it_costs() -> None:
    """How many records are passed over, and how many of them could still be read."""
    (first, second) = choose(ALL, 0, "latest", None, None)
    assert str(first) == ("slot 0, events/2: 5 → 9, skips up to 4 records, 2 of them still there")
    assert "forgotten" in str(second)
    (back,) = choose(ALL, 0, "earliest", "events", 0)
    assert str(back).endswith("5 → 0, reads up to 5 records again")
