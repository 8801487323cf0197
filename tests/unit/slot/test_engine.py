"""The engine's own rules, without Kafka: order, the hold, timers' share, what is worth a write."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bridge.core.model import SourcePolicy
from bridge.slot.engine import Engine, EngineTimes
from bridge.slot.work import Place, Work
from tests.unit.slot.desk import EVENTS, NOW, TOPICS, answer, desk, event, raw, sent

SECOND = 1_000
AT: dict[Place, int] = {(EVENTS, 0): 7}
TIMES = EngineTimes(heartbeat=3_600 * SECOND, reroute_grace=2_000, takeover_grace=30_000)


def opened(
    ends: Mapping[Place, int] | None = None, cycle_max: int = 500, ttl: int | None = None
) -> Engine:
    """An engine that was taken over at NOW, its inputs ending there."""
    engine = Engine(desk(policy=SourcePolicy(default_ttl=ttl)), TIMES, cycle_max)
    engine.restored()
    engine.committed(engine.takeover({EVENTS: 1}, AT), NOW)
    engine.opened(NOW, AT if ends is None else ends)
    return engine


def done(engine: Engine, work: Work, now: int) -> Work:
    engine.committed(work, now)
    return work


def statuses(work: Work) -> list[str]:
    return [each["status"] for each in sent(work.outgoing, "approvals")]


def test_run_events_come_before_answers() -> None:
    """An answer that was polled first finds the question that came with it."""
    work = opened().work([answer(offset=1), event(offset=2)], AT, NOW)
    assert [each["verdict"] for each in sent(work.outgoing, "answer-verdicts")] == ["accepted"]


def test_nothing_is_known_before_the_commit() -> None:
    """A work that is given up leaves nothing behind; done again it is the same."""
    engine = opened()
    first = engine.work([event()], AT, NOW)
    assert engine.ledger.pending.total() == 0
    again = engine.work([event()], AT, NOW)
    assert (again.outgoing, again.state) == (first.outgoing, first.state)
    engine.committed(again, NOW)
    assert engine.ledger.pending.total() == 1


def test_a_work_given_up_half_way_leaves_nothing_behind() -> None:
    """The loop turns between inputs, and a worker may be stopped there."""
    engine = opened()
    half = engine.begin([event(f"t-{n}", offset=n) for n in range(10)], AT, NOW)
    next(half.turns(3))
    assert engine.ledger.pending.total() == 0
    assert len(sent(engine.work([event()], AT, NOW).outgoing, "approvals")) == 1


def test_a_restore_knows_what_memory_knew() -> None:
    """Memory takes a commit by the code that reads the log."""
    engine = opened(ttl=60 * SECOND)
    works = [engine.takeover({EVENTS: 1}, AT)]
    for number in range(5):
        taken = [event(f"t-{number}", offset=number), answer(f"t-{number - 1}", offset=number)]
        works.append(done(engine, engine.work(taken, AT, NOW), NOW))
    other = Engine(desk(policy=SourcePolicy(default_ttl=60 * SECOND)), TIMES)
    for work in works:
        other.fold(work.state)
    other.restored()
    for known in ("pending", "positions", "unconfirmed", "parked_count", "meta"):
        assert getattr(other.ledger, known) == getattr(engine.ledger, known), known
    assert other.ledger.oldest() == engine.ledger.oldest()


# --- The hold after a takeover --------------------------------------------------------------------


def test_timers_wait_for_the_grace_and_for_the_inputs() -> None:
    """Both: a grace that has passed does not help who has not read what lay there."""
    engine = opened(ends={(EVENTS, 0): 9}, ttl=SECOND)
    done(engine, engine.work([event()], AT, NOW), NOW)
    late = NOW + 40 * SECOND
    assert statuses(engine.work([], AT, late)) == []
    assert not engine.is_caught_up
    assert engine.timers_held(late) == 1
    assert engine.next_due is None
    assert statuses(engine.work([], {(EVENTS, 0): 9}, late)) == ["expired"]
    assert engine.is_caught_up


def test_reading_to_the_end_does_not_shorten_the_grace() -> None:
    """Answers may be on their way home from slots that others have not read yet."""
    engine = opened(ttl=SECOND)
    done(engine, engine.work([event()], AT, NOW), NOW)
    assert statuses(engine.work([], AT, NOW + 29 * SECOND)) == []
    assert engine.is_caught_up
    assert statuses(engine.work([], AT, NOW + 30 * SECOND)) == ["expired"]


def test_nobody_waits_for_a_topic_that_is_not_read_now() -> None:
    """A source that waits for other workers would keep every deadline from passing."""
    ends = {(EVENTS, 0): 7, ("later", 0): 100}
    engine = opened(ends=ends, ttl=SECOND)
    at = {**AT, ("later", 0): 0}
    done(engine, engine.work([event()], at, NOW), NOW)
    after = NOW + 31 * SECOND
    assert statuses(engine.work([], at, after)) == []
    assert statuses(engine.work([], at, after, frozenset({"later"}))) == ["expired"]


def test_a_timer_fires_a_grace_after_its_instant() -> None:
    """Two seconds in which an answer may come home."""
    engine = opened(ttl=60 * SECOND)
    done(engine, engine.work([event()], AT, NOW), NOW)
    due = NOW + 62 * SECOND
    done(engine, engine.work([], AT, NOW + 31 * SECOND), NOW)
    assert engine.next_due == due
    assert not engine.is_due(due - 1)
    assert statuses(engine.work([], AT, due - 1)) == []
    assert engine.is_due(due)
    assert statuses(engine.work([], AT, due)) == ["expired"]


def test_an_answer_of_the_same_cycle_comes_before_the_deadline() -> None:
    """It was written in time and is read now: the timer is only due."""
    engine = opened(ttl=60 * SECOND)
    done(engine, engine.work([event()], AT, NOW), NOW)
    in_time = answer(offset=1, at=NOW + 59 * SECOND)
    work = engine.work([in_time], AT, NOW + 59_999)
    assert [each["verdict"] for each in sent(work.outgoing, "answer-verdicts")] == ["accepted"]


# --- How much one transaction holds ---------------------------------------------------------------


@pytest.mark.parametrize(("taken", "fired"), [(0, 10), (4, 6), (10, 1)])
def test_timers_get_what_inputs_leave_and_a_tenth_at_least(taken: int, fired: int) -> None:
    """However much comes in, deadlines pass; however many pass, a transaction is bounded."""
    engine = opened(cycle_max=10, ttl=60 * SECOND)
    for number in range(20):
        done(engine, engine.work([event(f"t-{number}", offset=number)], AT, NOW), NOW)
    late = NOW + 100 * SECOND
    new = [event(f"new-{number}", offset=100 + number, at=late) for number in range(taken)]
    work = engine.work(new, AT, late)
    assert statuses(work).count("expired") == fired


def test_timers_left_over_fire_in_the_next_cycle() -> None:
    """Twenty in two transactions of ten."""
    engine = opened(cycle_max=10, ttl=60 * SECOND)
    for number in range(20):
        done(engine, engine.work([event(f"t-{number}", offset=number)], AT, NOW), NOW)
    late = NOW + 100 * SECOND
    each = [statuses(done(engine, engine.work([], AT, late), late)) for _ in range(3)]
    assert [len(expired) for expired in each] == [10, 10, 0]


# --- What is worth a transaction ------------------------------------------------------------------


def test_positions_alone_wait_a_second_for_company() -> None:
    """A topic of events that are none of ours would cost a transaction a poll."""
    engine = opened()
    moved = {(EVENTS, 0): 8}
    assert not engine.work([], moved, NOW + SECOND).is_worth_it
    work = engine.work([], moved, NOW + SECOND + 1)
    assert work.is_worth_it
    assert not work.outgoing
    assert engine.ledger.positions == AT
    engine.committed(work, NOW + SECOND + 1)
    assert engine.ledger.positions == moved


def test_whatever_is_written_takes_its_positions_along() -> None:
    """Outputs and positions are one transaction: an input is never applied twice."""
    engine = opened()
    done(engine, engine.work([event(offset=7)], {(EVENTS, 0): 8}, NOW), NOW)
    assert engine.ledger.positions == {(EVENTS, 0): 8}


def test_an_idle_slot_writes_a_heartbeat() -> None:
    """One position that has not moved: an empty commit would tell a fenced producer nothing."""
    engine = opened()
    assert not engine.work([], AT, NOW + TIMES.heartbeat).is_worth_it
    beat = engine.work([], AT, NOW + TIMES.heartbeat + 1)
    assert len(beat.state) == 1
    assert engine.heartbeat(AT).state == beat.state


def test_a_null_value_is_counted_and_writes_nothing() -> None:
    """Kafka's delete on an input topic says nothing to us."""
    work = opened().work([raw(None, EVENTS, b"t-1"), raw(None, TOPICS["answers"])], AT, NOW)
    assert not work.outgoing
    assert work.counts["lenient", "null_value"] == 2
