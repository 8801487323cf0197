"""Answers: the ordered verdicts, and what an accepted one does.

The first check that holds is the verdict; an answer that passes all of them is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bridge.core import coverage, expiry, json_text, sizes
from bridge.core.closing import Closed
from bridge.core.ids import RunKey, key_of
from bridge.core.lifecycle import CLOSED_VERDICT, Move
from bridge.core.model import (
    AcceptedAnswer,
    Answer,
    ApprovalId,
    ClosedReason,
    DeadLetter,
    Decision,
    Digest,
    Effect,
    Item,
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
    if run is not None:
        return judge(thread, run, answer, now, rules)
    question, ttl = early_id(answer), rules.policy.early_answer_ttl
    if question is None or ttl <= 0:
        return Decision(thread, (unknown(answer, now),))
    if sizes.early_bytes(answer) > rules.limits.payload_bytes:
        return Decision(thread, (_unjudged(answer, "too_large", now),))
    if not rules.parked_room:
        return Decision(thread, (_unjudged(answer, "parked_full", now),))
    parked = Parked(question, answer, now + ttl)
    return Decision(replace(thread, parked=(*thread.parked, parked)))


def judge(thread: Thread, run: Run, answer: Answer, now: Millis, rules: Rules) -> Decision:
    """The verdict on an answer to a run of this thread, and what follows from it."""
    index = index_of(run, answer)
    if index is None:
        return Decision(thread, (unknown(answer, now),))
    item = run.items[index]
    payload = None if answer.payload is None else json_text.value(answer.payload)
    case = Case(
        answer=answer,
        run=run,
        index=index,
        item=item,
        approval_id=key_of(run).approval_id(item.question.interrupt_id),
        digest=digest_of(answer, payload),
        at=min(answer.origin.timestamp, now),
        rules=rules,
    )
    for verdict, found in checks(case):
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


def early_id(answer: Answer) -> ApprovalId | None:
    """The approval id of a question that may still come; None where the answer names none."""
    thread = answer.thread
    if thread is None or answer.run_id is None or answer.interrupt_id is None:
        return answer.approval_id
    return RunKey.of(thread, answer.run_id).approval_id(answer.interrupt_id)


# --- The checks, in the order that decides -------------------------------------------------------

Found = bool | tuple[Problem, ...]


def checks(case: Case) -> Iterator[tuple[Verdict, Found]]:
    """The verdicts in the order that decides, and whether each holds; the first that does counts.

    `unknown` is not here: without a question there is no case.
    """
    answer, run, item = case.answer, case.run, case.item
    allowed, accepted = run.policy.allowed_answerers, item.answer
    yield "malformed", answer.approval_id not in (None, case.approval_id)
    yield "forbidden", bool(allowed) and answer.answered_by not in allowed
    yield "duplicate", accepted is not None and accepted.digest == case.digest
    # A question that ran out of time says so, however its run went on.
    if run.outcome is not None and item.status != "expired":
        yield CLOSED_VERDICT[run.outcome], True
    is_past = item.expires_at is not None and case.at >= item.expires_at
    yield "expired", item.status == "expired" or is_past
    is_resolved = answer.status == "resolved"
    yield "out_of_band", is_resolved and item.question.kind == "authorization"
    yield "conflict", accepted is not None
    # What cancels closes its question, and is never refused for its size.
    yield "too_large", is_resolved and _exceeds(answer, run, case.rules.limits)
    yield "invalid_payload", _problems(case)


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


def _problems(case: Case) -> tuple[Problem, ...]:
    """What the question does not take of the answer.

    Its schema is that of the action that the answer takes, the first one where it names none. The
    flag says that the question's own cannot be enforced, and nothing of those of its actions.
    """
    question, answer = case.item.question, case.answer
    if answer.action is not None and answer.action not in question.actions:
        return (Problem("", "the question does not take this action"),)
    if answer.revised_input is not None and not question.revisable:
        return (Problem("", "the question does not take a revised input"),)
    if answer.status == "cancelled":
        return ()
    schema = None if "schema_unusable" in case.item.flags else question.response_schema
    if question.action_schemas:
        schema = dict(question.action_schemas).get(answer.action or question.actions[0], schema)
    return () if schema is None else case.rules.schemas.problems(schema, answer.payload)


# --- What follows --------------------------------------------------------------------------------


def _rejected(thread: Thread, case: Case, verdict: Verdict, found: Found, now: Millis) -> Decision:
    problems = found if isinstance(found, tuple) else ()
    judged = _judged(case, verdict, now, problems, open_count(case.run))
    if verdict == "malformed":
        detail = "approval_id is not that of the question named beside it"
        return Decision(thread, (judged, DeadLetter(Refusal("malformed", detail, "/approval_id"))))
    return Decision(thread, (judged,))


def _accepted(thread: Thread, case: Case, now: Millis) -> Decision:
    run, is_cancelled = case.run, case.answer.status == "cancelled"
    if is_cancelled and _exceeds(case.answer, run, case.rules.limits):
        case = replace(case, answer=_slim(case.answer))
    move: Move = "cancel" if is_cancelled else "answer"
    reason: ClosedReason = "cancelled" if is_cancelled else "answered"
    items = [*run.items]
    items[case.index] = moved(case.item, move, now, reason, _kept_of(case))
    if not coverage.is_complete(items):
        changed = with_items(run, items)
        judged = _judged(case, "accepted", now, (), open_count(changed))
        return Decision(put(thread, run, changed), (Publish(changed, case.index), judged))
    items = expiry.lapse_due(items, case.at, now, case.index)
    end = coverage.resume(run, items, thread.carry, now, case.rules)
    if not isinstance(end, Closed):
        if end == "command_too_large" and sizes.answer_bytes(case.answer):
            return _rejected(thread, case, "too_large", True, now)
        end = coverage.unresumable(run, items, end, now)
    effects: tuple[Effect, ...] = (*end.effects, _judged(case, "accepted", now, (), 0))
    return Decision(put(thread, run, end.run), effects)


def _slim(answer: Answer) -> Answer:
    """A cancelling answer that the run has no room for, without what may be left out of it."""
    left_out = [
        Problem(f"/{name}", "left out: the run has no room for it")
        for name in ("metadata", "answered_by")
        if getattr(answer, name) is not None
    ]
    problems = (*answer.problems, *left_out)
    return replace(answer, metadata=None, answered_by=None, problems=problems)


def _kept_of(case: Case) -> AcceptedAnswer:
    answer = case.answer
    return AcceptedAnswer(
        status=answer.status,
        digest=case.digest,
        answer_id=answer.answer_id or str(answer.origin),
        answered_at=answer.origin.timestamp,
        answered_by=answer.answered_by,
        payload=answer.payload,
        metadata=answer.metadata,
        action=answer.action,
        revised_input=answer.revised_input,
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
