"""When a worker gives its slots up, and how long it stays away."""

from __future__ import annotations

from bridge.kafka.patience import Patience, Standing

WELL = Standing(well=True, reading=False, failing=False)
FAILING = Standing(well=False, reading=False, failing=True)
READING = Standing(well=False, reading=True, failing=True)
STOPPED = Standing(well=False, reading=False, failing=False)


def looks(it: Patience, *slots: Standing, begin: int, end: int, heard: bool = True) -> bool:
    """A look each second; whether it was over at the last."""
    return [it.look(slots, heard, float(at)) for at in range(begin, end + 1)][-1]


def test_it_is_over_after_the_limit_with_no_slot_open() -> None:
    it = Patience(120)
    assert not looks(it, FAILING, FAILING, begin=0, end=119)
    assert it.look([FAILING, FAILING], True, 120.0)


def test_one_slot_that_serves_is_enough() -> None:
    it = Patience(120)
    assert not looks(it, FAILING, WELL, begin=0, end=500)


def test_time_without_a_broker_does_not_count() -> None:
    """Nobody else could serve; what was counted before is kept."""
    it = Patience(120)
    assert not looks(it, FAILING, begin=0, end=100)
    assert not looks(it, FAILING, begin=101, end=900, heard=False)
    assert not looks(it, FAILING, begin=901, end=919)
    assert it.look([FAILING], True, 920.0)


def test_a_long_state_that_is_being_read_is_no_failure() -> None:
    it = Patience(120)
    assert not looks(it, READING, FAILING, begin=0, end=900)


def test_what_people_must_mend_is_not_passed_on() -> None:
    """The next worker would stop there too."""
    it = Patience(120)
    assert not looks(it, STOPPED, STOPPED, begin=0, end=900)


def test_pauses_grow_until_a_slot_is_served() -> None:
    it = Patience(120)
    assert [it.give_up() for _ in range(7)] == [10, 30, 60, 120, 300, 300, 300]
    it.look([WELL], True, 0.0)
    assert it.give_up() == 10


def test_a_new_term_begins_with_nothing_counted() -> None:
    it = Patience(120)
    assert looks(it, FAILING, begin=0, end=120)
    it.give_up()
    assert not looks(it, FAILING, begin=200, end=319)
