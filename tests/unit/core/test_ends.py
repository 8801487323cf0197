"""How runs end without a last answer: by time, by the thread going on, by an operator."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import fields, replace

from bridge.core import closing, runs
from bridge.core.context import body_of
from bridge.core.decide import decide
from bridge.core.ids import RunKey
from bridge.core.model import (
    OF_THREAD,
    Counted,
    Drop,
    Forget,
    Input,
    Judged,
    Keep,
    Limits,
    Millis,
    Operation,
    Order,
    Origin,
    ResumeAnswered,
    ResumeRunId,
    ResumeSeen,
    RunFailed,
    RunStarted,
    Thread,
    ThreadEnded,
    ThreadKey,
    Tick,
    WentOn,
)
from bridge.core.timers import next_timer
from tests.unit.core.builders import (
    DAY,
    HOUR,
    NOW,
    THREAD,
    answer,
    approval_of,
    event,
    letters,
    opened,
    published,
    question,
    resumes,
    rules,
    run_policy,
    told,
    verdicts,
)

DUE = "2027-01-15T08:00:01Z"
DUE_AT = NOW + 1_000
HERE = Origin("events", 0, 9, NOW)
OPERATOR = Origin("operations", 0, 3, NOW)


# --- Time ------------------------------------------------------------------


def test_expiry_completes_a_run() -> None:
    """Nobody answered: every entry is cancelled, and the clock is named as who did it."""
    thread = opened(question("a", expires_at_raw=DUE))
    decision = decide(thread, Tick(), DUE_AT, rules())
    [command] = resumes(decision)
    assert (command.completed_by, command.deliver_by) == ("expiry", None)
    assert command.entries[0].closed_reason == "expired"
    assert decide(thread, Tick(), DUE_AT - 1, rules()).effects == ()


def test_answers_and_expiry_together_are_mixed() -> None:
    """The answered entry has no deadline, so the command may be delivered at any time."""
    thread = told(opened(question("a", expires_at_raw=DUE), "b"), [answer("b")]).thread
    decision = decide(thread, Tick(), DUE_AT, rules())
    assert [command.completed_by for command in resumes(decision)] == ["mixed"]
    assert published(decision) == [("a", "expired", 2), ("b", "answered", 3)]


def test_an_answer_lapses_while_its_run_waits_for_others() -> None:
    """The agent would refuse a resolved entry that has expired, so it is told `cancelled`."""
    thread = told(opened(question("a", expires_at_raw=DUE), "b"), [answer("a")]).thread
    decision = decide(thread, Tick(), DUE_AT, rules())
    [item, _] = decision.thread.runs[0].items
    assert (item.status, item.closed_reason, item.flags) == ("expired", "lapsed", ("lapsed",))
    assert published(decision) == [("a", "expired", 3)]
    again = told(decision.thread, [answer("a"), answer("a", payload=b"1")], DUE_AT)
    assert verdicts(again) == ["duplicate", "expired"]


def test_a_cancelled_interrupt_does_not_lapse() -> None:
    """Its entry is allowed after the deadline."""
    thread = told(
        opened(question("a", expires_at_raw=DUE), "b"), [answer("a", status="cancelled")]
    ).thread
    assert next_timer(thread.runs[0]) is None
    assert decide(thread, Tick(), DUE_AT, rules()).effects == ()


@pytest.mark.parametrize(
    ("second_at", "statuses"),
    [(DUE_AT - 1, ["answered", "answered"]), (DUE_AT, ["expired", "answered"])],
)
def test_the_completing_answer_decides_what_had_lapsed_by_then(
    second_at: int, statuses: list[str]
) -> None:
    """A bridge that was away judges by the instants of the records, not by when it came back."""
    thread = opened(question("a", expires_at_raw=DUE), "b")
    decision = told(thread, [answer("a", at=NOW), answer("b", at=second_at)], NOW + HOUR)
    [command] = resumes(decision)
    assert [item.status for item in command.run.items] == statuses


def test_deliver_by_is_the_earliest_deadline_of_a_resolved_entry() -> None:
    """Cancelled ones do not hurry anybody."""
    thread = opened(
        question("a", expires_at_raw="2027-01-15T09:00:00Z"),
        question("b", expires_at_raw="2027-01-15T08:30:00Z"),
        question("c", expires_at_raw=DUE),
    )
    given = [answer("a"), answer("b"), answer("c", status="cancelled")]
    [command] = resumes(told(thread, given))
    assert command.deliver_by == NOW + HOUR // 2


@pytest.mark.parametrize("first", ["answer", "tick"])
def test_answer_and_expiry_at_the_same_instant_have_one_outcome(first: str) -> None:
    """At the deadline itself it is too late, whichever of the two is looked at first."""
    thread = opened(question("a", expires_at_raw=DUE))
    pair: list[Input] = [answer("a", at=DUE_AT), Tick()]
    decision = told(thread, pair if first == "answer" else pair[::-1], DUE_AT)
    assert verdicts(decision) == ["expired"]
    assert [command.completed_by for command in resumes(decision)] == ["expiry"]


def test_a_clock_that_goes_back_does_not_undo_an_expiry() -> None:
    """What was decided is in the state."""
    thread = decide(opened(question("a", expires_at_raw=DUE)), Tick(), DUE_AT, rules()).thread
    decision = told(thread, [Tick(), answer("a")], NOW - HOUR)
    assert verdicts(decision) == ["expired"]
    assert resumes(decision) == []


def test_early_answers_are_given_up_when_their_time_is_over() -> None:
    """Each parked record gets its one verdict."""
    parked = told(Thread(), [answer("a"), answer("a", offset=2)]).thread
    assert decide(parked, Tick(), NOW + HOUR // 4 - 1, rules()).effects == ()
    decision = decide(parked, Tick(), NOW + HOUR // 4, rules())
    assert verdicts(decision) == ["unknown", "unknown"]
    assert decision.thread.parked == ()


@pytest.mark.parametrize(
    ("written", "forgotten"), [(NOW, NOW + DAY), (NOW + HOUR, NOW + HOUR + DAY)]
)
def test_closed_runs_are_forgotten_after_their_retention(written: int, forgotten: int) -> None:
    """Counted from the later of close and event, so that a replay is too old by then."""
    policy = rules(run_policy(closed_retention=DAY))
    asked = event("a", origin=Origin("events", 0, 7, written))
    thread = told(Thread(), [asked, answer("a")], NOW, policy).thread
    assert next_timer(thread.runs[0]) == forgotten
    assert decide(thread, Tick(), forgotten - 1, policy).effects == ()
    decision = decide(thread, Tick(), forgotten, policy)
    [forget] = decision.effects
    assert isinstance(forget, Forget)
    assert decision.thread.runs == ()
    assert letters(decide(decision.thread, asked, forgotten, policy)) == ["too_old"]


def test_the_next_timer_is_the_earliest_that_still_counts() -> None:
    """Pending and answered deadlines of an open run; none where nothing expires."""
    thread = opened(question("a", expires_at_raw="2027-01-15T09:00:00Z"), question("b"))
    assert next_timer(thread.runs[0]) == NOW + HOUR
    assert next_timer(told(thread, [answer("a")]).thread.runs[0]) == NOW + HOUR
    assert next_timer(opened("a").runs[0]) is None


# --- The thread goes on ----------------------------------------------------


def went_on(at: Millis = NOW) -> WentOn:
    return WentOn(THREAD, Order(at), HERE)


def thread_ended(reason: Any = "task_ended", at: Millis = NOW) -> ThreadEnded:
    return ThreadEnded(THREAD, reason, Order(at), HERE)


def started(run: str, *resumes: str, at: Millis = NOW) -> RunStarted:
    return RunStarted(THREAD, run, Order(at), HERE, resumes)


def seen(run: str | None = None, at: Millis = NOW) -> ResumeSeen:
    """That a run, or whichever is the newest, was continued."""
    return ResumeSeen(THREAD, Order(at), HERE, run)


OURS = RunKey.of(ThreadKey("support", "", "thread-1"), "run-1").resume_run_id


@pytest.mark.parametrize(
    ("given", "closes"),
    [
        (went_on(), True),
        (thread_ended(), True),
        (thread_ended("run_failed"), True),
        (started("somebody-else", "b", "a", "z"), True),
        (started("somebody-else", "a"), False),
        (started("somebody-else"), False),
        (seen(), False),
        (seen("run-1"), False),
        (ResumeAnswered(THREAD, OURS, HERE), False),
        (went_on(NOW - 1), False),  # older than the question
        (started("somebody-else", "a", "b", at=NOW - 1), False),
    ],
)
def test_a_run_that_was_continued_elsewhere_is_withdrawn(given: Input, closes: bool) -> None:
    """Only something newer that answers every interrupt of this run closes it."""
    decision = decide(opened("a", "b"), given, NOW, rules())
    assert (published(decision) == [("a", "withdrawn", 2), ("b", "withdrawn", 2)]) is closes
    assert decision.thread.runs[0].outcome == ("withdrawn" if closes else None)


@pytest.mark.parametrize(
    ("order", "closes"),
    [
        (Order(NOW, rank="work"), False),  # told again of the instant at which it asked
        (Order(NOW + 1, rank="work"), True),
        (Order(NOW - 1, 3), True),  # a generation beats the instant
        (Order(NOW + 1, 1), False),
        (Order(NOW + 1, 2, "work"), True),
        (Order(NOW, 2), True),
        (Order(NOW), True),
        (Order(NOW - 1), False),
    ],
)
def test_only_what_comes_after_a_question_closes_it(order: Order, closes: bool) -> None:
    """By generation where both sides have one, else by instant; work is never after its own."""
    asking = decide(Thread(), event("a", generation=2), NOW, rules()).thread
    left = decide(asking, WentOn(THREAD, order, HERE), NOW, rules()).thread
    assert (left.runs[0].outcome == "withdrawn") is closes


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        (thread_ended(), "withdrawn"),
        (thread_ended("run_failed"), "withdrawn"),
        (went_on(), None),
        (ResumeAnswered(THREAD, OURS, HERE), None),  # it is about our request alone
        (thread_ended(at=NOW - 1), None),  # older than the last question
    ],
)
@pytest.mark.parametrize("resumed", [True, False])
def test_an_ended_thread_opens_nothing(given: Input, outcome: str | None, resumed: bool) -> None:
    """A run that comes after the end is published once, closed; so is the next one."""
    thread = told(opened("a"), [answer("a")] if resumed else [went_on()]).thread
    later = [event("b", run=f"run-{n}", at=NOW + n) for n in (2, 3)]
    thread = told(thread, [given, *later[:1]], NOW + HOUR).thread
    assert thread.runs[1].outcome == outcome
    decision = decide(thread, later[1], NOW + HOUR, rules())
    status = outcome or "pending"
    assert published(decision)[-1] == ("b", status, 1)


def test_the_end_is_known_as_long_as_a_run_of_its_thread() -> None:
    """The run that it came to is forgotten first."""
    short = rules(run_policy(closed_retention=DAY))
    thread = told(opened("a"), [answer("a"), thread_ended()]).thread
    thread = decide(thread, event("b", run="run-2", at=NOW + HOUR), NOW + HOUR, short).thread
    thread = replace(thread, runs=thread.runs[1:])
    decision = decide(thread, event("c", run="run-3", at=NOW + DAY), NOW + DAY, short)
    assert published(decision) == [("c", "withdrawn", 1)]


@pytest.mark.parametrize(
    ("ends", "counted"),
    [(thread_ended("run_failed"), True), (thread_ended(), False), (went_on(), False)],
)
def test_a_resume_that_its_thread_did_not_survive_is_counted_once(
    ends: Input, counted: bool
) -> None:
    """Nobody is asked anything any more, so only a metric can tell."""
    thread = told(opened("a"), [answer("a"), went_on()]).thread
    decision = told(thread, [ends, ends])
    assert (decision.effects == (Counted("resume_failed", "support"),)) is counted


def test_start_of_the_waiting_run_told_again_closes_nothing() -> None:
    """Ids recur: the resume that started this run may name the interrupts that it ended with."""
    thread = opened("a")
    again = started(thread.runs[0].run_id, "a", at=NOW + 1)
    assert decide(thread, again, NOW, rules()).thread is thread


@pytest.mark.parametrize(
    ("given", "confirmed"),
    [
        (started(OURS), True),
        (started(OURS, "a"), True),
        (ResumeAnswered(THREAD, OURS, HERE), True),
        (went_on(), True),
        (thread_ended(), True),
        (seen(), True),
        (seen("run-1"), True),
        (started("other"), False),
        (ResumeAnswered(THREAD, ResumeRunId("other"), HERE), False),
        (seen("run-9"), False),
        (seen(at=NOW - 1), False),
    ],
)
def test_our_own_resume_is_confirmed(given: Input, confirmed: bool) -> None:
    """Seen once; approvals say nothing new, and a repeat changes nothing."""
    thread = told(opened("a"), [answer("a")]).thread
    decision = decide(thread, given, NOW, rules())
    assert decision.thread.runs[0].confirmed is confirmed
    assert decision.effects == ()
    assert decide(decision.thread, given, NOW, rules()).thread is decision.thread


@pytest.mark.parametrize("given", [started(OURS), ResumeAnswered(THREAD, OURS, HERE)])
def test_our_resume_does_not_close_the_run_that_came_after(given: Input) -> None:
    """A confirmation that is late must not be taken for news about the next question."""
    thread = told(opened("a"), [answer("a"), event("a", run="run-2", at=NOW)]).thread
    decision = decide(thread, given, NOW, rules())
    assert [(r.outcome, r.confirmed) for r in decision.thread.runs] == [
        ("resumed", True),
        (None, False),
    ]


@pytest.mark.parametrize("withdraw", [False, True])
def test_a_late_error_flags_or_withdraws(withdraw: bool) -> None:
    """Flagged once and still open; withdrawn where the source's policy says so."""
    failed = RunFailed(THREAD, Order(NOW), HERE)
    thread = opened("a", rules=rules(run_policy(withdraw_on_failure=withdraw)))
    decision = decide(thread, failed, NOW, rules())
    [item] = decision.thread.runs[0].items
    expected = ("withdrawn", "run_failed", ()) if withdraw else ("pending", None, ("run_failed",))
    assert (item.status, item.closed_reason, item.flags) == expected
    assert len(published(decision)) == 1
    assert decide(decision.thread, failed, NOW, rules()).effects == ()


def test_an_error_before_the_interrupt_is_not_about_it() -> None:
    """An earlier run of the thread failed."""
    assert decide(opened("a"), RunFailed(THREAD, Order(NOW - 1), HERE), NOW, rules()).effects == ()


# --- Operators -------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "outcome", "statuses"),
    [
        ("withdraw", "withdrawn", ["answered", "withdrawn"]),
        ("expire", "resumed", ["answered", "expired"]),
    ],
)
def test_an_operator_ends_a_run(op: Any, outcome: str, statuses: list[str]) -> None:
    """Withdrawing sends nothing; expiring resumes with what is there."""
    thread = told(opened("a", "b"), [answer("a")]).thread
    decision = told(thread, [Operation(OPERATOR, op, approval_of("b"))])
    assert verdicts(decision) == ["accepted"]
    assert [status for _, status, _ in published(decision)] == statuses
    assert decision.thread.runs[0].outcome == outcome
    assert len(resumes(decision)) == (1 if op == "expire" else 0)
    assert verdicts(told(decision.thread, [Operation(OPERATOR, op, approval_of("b"))])) != [
        "accepted"
    ]


def test_an_operation_on_nothing_is_unknown() -> None:
    """It is not kept: an operator looks before acting."""
    decision = told(Thread(), [Operation(OPERATOR, "withdraw", None, THREAD, "run-1")])
    assert verdicts(decision) == ["unknown"]
    assert isinstance(decision.effects[0], Judged)


# --- Memory ----------------------------------------------------------------


def test_context_is_kept_replaced_and_dropped() -> None:
    """Too large a context takes the older one along: it would continue from the wrong point."""
    given = rules(limits=Limits(carry_bytes=5))
    kept = decide(Thread(), Keep(THREAD, OF_THREAD, b"12345", HERE), NOW, given).thread
    assert body_of(kept.carry, "") == b"12345"
    assert decide(kept, Keep(THREAD, OF_THREAD, b"12345", HERE), NOW, given).thread is kept
    large = decide(kept, Keep(THREAD, OF_THREAD, b"123456", HERE), NOW, given)
    assert (large.thread.carry, large.effects) == ((), (Counted("carry_dropped", "too_large"),))
    assert decide(kept, Drop(THREAD, OF_THREAD, HERE), NOW, given).thread.carry == ()


def test_copies_leave_out_no_field() -> None:
    """Every copy is written out by hand; a new field must not be lost in one of them."""
    run = opened(question("a", expires_at_raw=DUE), native=b"1", generation=3).runs[0]
    item = replace(run.items[0], flags=("run_failed",), closed_at=1, closed_reason="answered")
    full = replace(run, items=(item,), outcome="resumed", closed_at=2, confirmed=True)
    assert all(getattr(full, f.name) is not None for f in fields(full))
    assert runs.with_items(full, full.items) == full
    assert runs.with_outcome(full, full.items, "resumed", 2) == full
    assert runs.with_confirmation(full) == full
    assert runs.revised(item) == replace(item, revision=2)
    assert runs.moved(item, "expire", 1, "answered") == replace(item, status="expired", revision=2)
    assert closing.remembered(full) == replace(
        full, native=None, items=(replace(item, question=question("a")),)
    )
