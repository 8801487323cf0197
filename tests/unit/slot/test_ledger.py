"""The ledger is a fold: what was restored equals what was lived, whatever compaction left."""

from __future__ import annotations

import pytest

from bridge.slot import state_codec as codec
from bridge.slot.ledger import Ledger
from tests.unit.slot.desk import NOW, Bench, answer, event

_WEEK = 7 * 86_400_000


def _seen(ledger: Ledger) -> tuple[object, ...]:
    """Everything a reader of the ledger can tell, timers included."""
    return (
        +ledger.pending,
        ledger.unconfirmed,
        ledger.parked_count,
        ledger.oldest(),
        {t: ledger.runs(t) for t in ledger.contents().threads},
        ledger.contents().approvals,
    )


def test_restore_equals_what_was_lived() -> None:
    """Open, answered, closed, superseded, forgotten: both ledgers tell the same."""
    bench = Bench()
    bench.cycle(event("t-1"), event("t-2", ids=("a", "b")), event("t-3"), answer("t-9"))
    bench.cycle(answer("t-1"), answer("t-2", interrupt="a"), event("t-3", run="r-2", at=NOW + 1))
    assert _seen(bench.restored().ledger) == _seen(bench.ledger)
    bench.cycle(now=NOW + _WEEK + 5_000, due=NOW + _WEEK + 2_000)
    assert _seen(bench.restored().ledger) == _seen(bench.ledger)


def test_counts_of_pending_follow_the_runs() -> None:
    """Pending is open interrupts by source; a resumed run counts as unconfirmed instead."""
    bench = Bench()
    bench.cycle(event("t-1", ids=("a", "b")), event("t-2"))
    assert bench.ledger.pending["agents"] == 3
    bench.cycle(answer("t-1", interrupt="a"), answer("t-2"))
    assert bench.ledger.pending["agents"] == 1
    assert bench.ledger.unconfirmed == 1


def test_forgotten_run_leaves_nothing_behind() -> None:
    """Its approvals are unindexed, its thread is unknown, its state record is a tombstone."""
    bench = Bench()
    bench.cycle(event(), answer())
    out = bench.cycle(now=NOW + _WEEK, due=NOW + _WEEK)
    assert [(o.topic, o.value) for o in out] == [("approvals", None)]
    assert list(bench.log.values()) == [None]
    assert not any(bench.ledger.contents())


def test_tombstone_of_another_run_leaves_the_thread_alone() -> None:
    """After compaction a tombstone may stand where its run's record is long gone."""
    bench = Bench()
    bench.cycle(event(run="r-1"), answer(run="r-1"))
    (gone,) = bench.log
    other = Bench()
    other.cycle(event(run="r-2"))
    other.ledger.fold(gone, None)
    (thread,) = other.ledger.contents().threads
    assert [run.run_id for run in other.ledger.runs(thread)] == ["r-2"]


def test_runs_of_a_thread_come_in_the_order_they_were_published() -> None:
    """Compaction keeps the last write of each, in the order of the writes, not of the runs."""
    bench = Bench()
    bench.cycle(event(run="r-1"), now=NOW)
    bench.cycle(event(run="r-2", at=NOW + 1), now=NOW + 10)
    first, second = bench.log.items()
    ledger = Ledger()
    for key, value in (second, first):
        ledger.fold(key, value)
    (thread,) = ledger.contents().threads
    assert [run.run_id for run in ledger.runs(thread)] == ["r-1", "r-2"]


def test_positions_and_meta_are_folded() -> None:
    """The last value of a position counts; unknown and internal keys are passed by."""
    ledger = Ledger()
    for offset in (4, 9):
        ledger.fold(codec.position_key("in", 3), codec.encode_position(offset))
    ledger.fold(codec.META_KEY, codec.encode_meta(codec.Meta(partitions_seen={"in": 4})))
    ledger.fold(b"__bridge/slot-1", None)
    ledger.fold(None, b"x")
    assert ledger.positions == {("in", 3): 9}
    assert ledger.meta is not None
    assert ledger.meta.partitions_seen == {"in": 4}


FAR = "9999-12-31T23:59:59Z"


def test_timers_of_what_is_long_over_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions that may wait for thousands of years are answered, resumed and forgotten."""
    monkeypatch.setattr("bridge.slot.ledger.MOST_POINTLESS", 10)
    bench = Bench()
    bench.cycle(event("stays", expiresAt=FAR))
    for number in range(200):
        now = NOW + number * _WEEK
        bench.cycle(event(f"t-{number}", expiresAt=FAR, at=now), now=now, due=now)
        bench.cycle(answer(f"t-{number}", at=now), now=now, due=now)
    assert len(bench.ledger.timers) <= 20
    assert len(bench.restored().ledger.timers) <= 20
    assert any(at > NOW + 2_000 * _WEEK for at, _ in bench.ledger.timers)  # of "stays"
