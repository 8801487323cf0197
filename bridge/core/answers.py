"""Answers: the ordered verdicts, and what an accepted one does.

The order is data. The first check that holds is the verdict; an answer that passes all of them
is accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bridge.core import coverage, expiry, json_text, sizes
from bridge.core.closing import Closed
from bridge.core.ids import RunKey, key_of
from bridge.core.lifecycle import CLOSED_VERDICT
from bridge.core.model import (
    AcceptedAnswer,
    Answer,
    ApprovalId,
    DeadLetter,
    Decision,
    Digest,
    Effect,
    Item,
    JsonText,
    Judged,
    Limits,
    Millis,
    Parked,
    Problem,
    Publish,
    Refusal,
    Run,
    Thread,
    Verdict,
)
from bridge.core.rules import Rules
from bridge.core.runs import index_of, moved, open_count, put, run_of, with_items


class Case(Struct, frozen=True, gc=False):
    """One answer before one question. `at` is the instant that the deadline is compared with."""

    answer: Answer
    run: Run
    index: int
    item: Item
    approval_id: ApprovalId
    digest: Digest
    at: Millis
    rules: Rules


def answered(thread: Thread, answer: Answer, now: Millis, rules: Rules) -> Decision:
    """One verdict, or the answer is parked because its question is not known yet."""
    run = run_of(thread, answer)
    if run is None:
        return _park(thread, answer, now, rules)
    return judge(thread, run, answer, now, rules)


def judge(thread: Thread, run: Run, answer: Answer, now: Millis, rules: Rules) -> Decision:
    """The verdict on an answer to a run of this thread, and what follows from it."""
    index = index_of(run, answer)
    if index is None:
        return Decision(thread, (unknown(answer, now),))
    case = _case(answer, run, index, now, rules)
    for verdict, holds in CHECKS:
        found = holds(case)
        if found:
            return _rejected(thread, case, verdict, found, now)
    return _accepted(thread, case, now)


def digest_of(answer: Answer, payload: Any) -> Digest:
    """What makes two answers equal: status, payload, action and revised input as JSON values."""
    revised = None if answer.revised_input is None else json_text.value(answer.revised_input)
    return json_text.digest([answer.status, payload, answer.action, revised])


def unknown(answer: Answer, now: Millis) -> Judged:
    """The verdict on an answer whose question does not exist."""
    return _unjudged(answer, "unknown", now)


# --- The checks, in the order that decides -------------------------------------------------------

Found = bool | tuple[Problem, ...]


def _contradicts_itself(case: Case) -> Found:
    named = case.answer.approval_id
    return named is not None and named != case.approval_id


def _may_not_answer(case: Case) -> Found:
    allowed = case.run.policy.allowed_answerers
    return bool(allowed) and case.answer.answered_by not in allowed


def _equals_the_accepted(case: Case) -> Found:
    accepted = case.item.answer
    return accepted is not None and accepted.digest == case.digest


def _closed_as(verdict: Verdict) -> Callable[[Case], Found]:
    def holds(case: Case) -> Found:
        outcome = case.run.outcome
        # A question that ran out of time says so, however its run went on.
        if outcome is None or case.item.status == "expired":
            return False
        return CLOSED_VERDICT[outcome] == verdict

    return holds


def _out_of_time(case: Case) -> Found:
    if case.item.status == "expired":
        return True
    return case.item.expires_at is not None and case.at >= case.item.expires_at


def _answered_elsewhere(case: Case) -> Found:
    return case.item.question.kind == "authorization" and case.answer.status == "resolved"


def _other_accepted(case: Case) -> Found:
    return case.item.answer is not None


def _too_large(case: Case) -> Found:
    """What cancels closes its question, and is never refused for its size."""
    return case.answer.status == "resolved" and _exceeds(case.answer, case.run, case.rules.limits)


def _exceeds(answer: Answer, run: Run, limits: Limits) -> bool:
    added = sizes.answer_bytes(answer)
    if added > limits.payload_bytes:
        return True
    state = sizes.state_bytes(run) + added
    if state > sizes.most_state(run, limits):
        return True
    # A command holds little more than the state does, twice; counted only near the bound.
    most = sizes.most_command(run, limits)
    if 3 * state <= most:
        return False
    return sizes.command_bytes(run, sizes.body_estimate(run, added), added) > most


def _slim(answer: Answer) -> Answer:
    """A cancelling answer that the run has no room for, without what may be left out of it."""
    left_out = [
        Problem(f"/{name}", "left out: the run has no room for it")
        for name in ("metadata", "answered_by")
        if getattr(answer, name) is not None
    ]
    problems = (*answer.problems, *left_out)
    return replace(answer, metadata=None, answered_by=None, problems=problems)


def _breaks_the_schema(case: Case) -> Found:
    question, answer = case.item.question, case.answer
    if answer.action is not None and answer.action not in question.actions:
        return (Problem("", "the question does not take this action"),)
    if answer.revised_input is not None and not question.revisable:
        return (Problem("", "the question does not take a revised input"),)
    schema = _schema_of(case.item, answer)
    if answer.status == "cancelled" or schema is None:
        return ()
    return case.rules.schemas.problems(schema, answer.payload)


def _schema_of(item: Item, answer: Answer) -> JsonText | None:
    """The schema of the action that the answer takes, the first one where it names none.

    The flag says that the question's own cannot be enforced, and nothing of those of its actions.
    """
    question = item.question
    if question.action_schemas:
        own = dict(question.action_schemas).get(answer.action or question.actions[0])
        if own is not None:
            return own
    return None if "schema_unusable" in item.flags else question.response_schema


CHECKS: tuple[tuple[Verdict, Callable[[Case], Found]], ...] = (
    ("malformed", _contradicts_itself),
    ("forbidden", _may_not_answer),
    ("duplicate", _equals_the_accepted),
    ("late", _closed_as("late")),
    ("stale", _closed_as("stale")),
    ("withdrawn", _closed_as("withdrawn")),
    ("expired", _out_of_time),
    ("out_of_band", _answered_elsewhere),
    ("conflict", _other_accepted),
    ("too_large", _too_large),
    ("invalid_payload", _breaks_the_schema),
)
"""`unknown` is not here: without a question there is no case."""


# --- What follows --------------------------------------------------------------------------------


def _case(answer: Answer, run: Run, index: int, now: Millis, rules: Rules) -> Case:
    item = run.items[index]
    payload = None if answer.payload is None else json_text.value(answer.payload)
    return Case(
        answer,
        run,
        index,
        item,
        key_of(run).approval_id(item.question.interrupt_id),
        digest_of(answer, payload),
        min(answer.origin.timestamp, now),
        rules,
    )


def _rejected(thread: Thread, case: Case, verdict: Verdict, found: Found, now: Millis) -> Decision:
    problems = found if isinstance(found, tuple) else ()
    judged = _judged(case, verdict, now, problems, open_count(case.run))
    if verdict == "malformed":
        detail = "approval_id is not that of the question named beside it"
        return Decision(thread, (judged, DeadLetter(Refusal("malformed", detail, "/approval_id"))))
    return Decision(thread, (judged,))


def _accepted(thread: Thread, case: Case, now: Millis) -> Decision:
    run, cancelled = case.run, case.answer.status == "cancelled"
    if cancelled and _exceeds(case.answer, run, case.rules.limits):
        case = replace(case, answer=_slim(case.answer))
    item = moved(
        case.item,
        "cancel" if cancelled else "answer",
        now,
        "cancelled" if cancelled else "answered",
        _record(case),
    )
    items = [*run.items]
    items[case.index] = item
    if not coverage.is_complete(items):
        changed = with_items(run, items)
        judged = _judged(case, "accepted", now, (), open_count(changed))
        return Decision(put(thread, run, changed), (Publish(changed, case.index), judged))
    return _completed(thread, case, items, now)


def _completed(thread: Thread, case: Case, items: list[Item], now: Millis) -> Decision:
    items = expiry.lapse_due(items, case.at, now, case.index)
    end = coverage.resume(case.run, items, thread.carry, now, case.rules)
    if not isinstance(end, Closed):
        if end == "command_too_large" and sizes.answer_bytes(case.answer):
            return _rejected(thread, case, "too_large", True, now)
        end = coverage.unresumable(case.run, items, end, now)
    effects: tuple[Effect, ...] = (*end.effects, _judged(case, "accepted", now, (), 0))
    return Decision(put(thread, case.run, end.run), effects)


def _record(case: Case) -> AcceptedAnswer:
    answer = case.answer
    return AcceptedAnswer(
        answer.status,
        case.digest,
        answer.answer_id or str(answer.origin),
        answer.origin.timestamp,
        answer.answered_by,
        answer.payload,
        answer.metadata,
        answer.action,
        answer.revised_input,
    )


def _judged(
    case: Case, verdict: Verdict, now: Millis, problems: tuple[Problem, ...], still_open: int
) -> Judged:
    answer, accepted = case.answer, case.item.answer
    if (
        accepted is not None
        and answer.answer_id == accepted.answer_id
        and case.digest != accepted.digest
    ):
        problems = (*problems, Problem("", "answer_id_reused"))
    return Judged(
        verdict=verdict,
        origin=answer.origin,
        answer_id=answer.answer_id or str(answer.origin),
        decided_at=now,
        approval_id=case.approval_id,
        thread=case.run.thread,
        run_id=case.run.run_id,
        interrupt_id=case.item.question.interrupt_id,
        problems=(*problems, *answer.problems),
        open=still_open,
    )


# --- Answers before their question ---------------------------------------------------------------


def _park(thread: Thread, answer: Answer, now: Millis, rules: Rules) -> Decision:
    key = early_id(answer)
    ttl = rules.policy.early_answer_ttl
    if key is None or ttl <= 0:
        return Decision(thread, (unknown(answer, now),))
    if sizes.early_bytes(answer) > rules.limits.payload_bytes:
        return Decision(thread, (_unjudged(answer, "too_large", now),))
    if not rules.parked_room:
        return Decision(thread, (_unjudged(answer, "parked_full", now),))
    parked = Parked(key, answer, now + ttl)
    return Decision(Thread(thread.runs, (*thread.parked, parked), thread.carry))


def early_id(answer: Answer) -> ApprovalId | None:
    """The approval id of a question that may still come; None where the answer names none."""
    key = answer.thread
    if key is None or answer.run_id is None or answer.interrupt_id is None:
        return answer.approval_id
    return RunKey.of(key, answer.run_id).approval_id(answer.interrupt_id)


def _unjudged(answer: Answer, verdict: Verdict, now: Millis) -> Judged:
    return Judged(
        verdict=verdict,
        origin=answer.origin,
        answer_id=answer.answer_id or str(answer.origin),
        decided_at=now,
        approval_id=answer.approval_id or early_id(answer),
        thread=answer.thread,
        run_id=answer.run_id,
        interrupt_id=answer.interrupt_id,
        problems=answer.problems,
    )
