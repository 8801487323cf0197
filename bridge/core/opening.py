"""An interrupted run arrives: it opens, changes nothing, supersedes an older one, or is refused.

Early answers that waited for it are judged in the same decision.
"""

from __future__ import annotations

from msgspec.structs import replace

from bridge.core import answers, closing, expiry, sizes
from bridge.core.closing import Closed
from bridge.core.ids import key_of
from bridge.core.instants import is_usable
from bridge.core.model import (
    Counted,
    DeadLetter,
    Decision,
    Effect,
    Interrupted,
    Item,
    Millis,
    Question,
    Reason,
    Refusal,
    Run,
    Thread,
)
from bridge.core.order import is_after, order_of
from bridge.core.rules import Rules
from bridge.core.runs import publish_all, put, with_confirmation, with_end, without


def interrupted(thread: Thread, event: Interrupted, now: Millis, rules: Rules) -> Decision:
    """One pending approval per interrupt, unless the event is known, too old or too large."""
    for run in thread.runs:
        if run.run_id == event.run_id:
            return _again(thread, run, event)
    refusal = _refusal(event, now, rules)
    if refusal is not None:
        return Decision(thread, (DeadLetter(refusal),))
    run = _run(event, now, rules)
    too_large = _too_large(run, rules)
    if too_large is not None:
        return _refused(thread, "limit", too_large)
    if any(other.ended for other in thread.runs):
        closed = closing.close_unpublished(with_end(run), "withdrawn", "task_ended", now)
        return _late(thread, closed, now, rules)
    if any(not is_after(order_of(run), other) for other in thread.runs):
        closed = closing.close_unpublished(run, "superseded", "superseded", now)
        return _late(thread, closed, now, rules)
    effects: tuple[Effect, ...] = ()
    for other in thread.runs:
        # The thread goes on from the newer run, which also shows that a resume was carried out.
        if other.outcome == "resumed" and not other.confirmed:
            thread = put(thread, other, with_confirmation(other))
        if other.outcome is None:
            closed = closing.close(other, "superseded", "superseded", now)
            thread, effects = put(thread, other, closed.run), (*effects, *closed.effects)
    thread = replace(thread, runs=(*thread.runs, run))
    return _with_early_answers(thread, run, (*effects, *publish_all(run)), now, rules)


def _again(thread: Thread, run: Run, event: Interrupted) -> Decision:
    """A run id that is remembered: the identical event again is the normal case of a retry."""
    # A producer's clock may be ahead of the close; only a later record than the first is reuse.
    # What has an instant of its own keeps it when it is told of again, as some agents do.
    written = event.origin.timestamp
    is_told_again = event.repeats and event.digest == run.digest
    if run.closed_at is not None and is_told_again and written > run.closed_at:
        return Decision(thread, (Counted("repeats", event.thread.source),))
    is_later = event.order.at > run.at and written > run.origin.timestamp
    if run.closed_at is not None and is_later and written > run.closed_at:
        return _refused(thread, "run_reused", "the run was closed before this event was written")
    if event.digest != run.digest:
        return _refused(thread, "run_conflict", "the run was published with other interrupts")
    return Decision(thread)


def _refused(thread: Thread, reason: Reason, detail: str) -> Decision:
    return Decision(thread, (DeadLetter(Refusal(reason, detail)),))


def _refusal(event: Interrupted, now: Millis, rules: Rules) -> Refusal | None:
    """Why an event that was never seen opens nothing."""
    policy = rules.policy
    oldest = now - min(policy.max_event_age, policy.run.closed_retention)
    written = event.origin.timestamp
    if (written if is_usable(written) else event.order.at) <= oldest:
        return Refusal("too_old", "the event is older than max_event_age")
    if len(event.questions) > rules.limits.interrupts_per_run:
        return Refusal("limit", f"{len(event.questions)} interrupts exceed interrupts_per_run")
    if policy.refuse_unknown_dialect and any("unknown_dialect" in q.flags for q in event.questions):
        return Refusal("unsupported", "asked in a dialect that is not read here (unknown_dialect)")
    if policy.refuse_unusable_schema:
        for index, question in enumerate(event.questions):
            problem = _unusable(question, rules)
            if problem is not None:
                detail = f"response schema of interrupt {index}: {problem}"
                return Refusal("unsupported", detail)
    return None


def _too_large(run: Run, rules: Rules) -> str | None:
    """Why the run could not be remembered, or never be resumed, whatever is answered."""
    limits = rules.limits
    if sizes.longest_id(run) > limits.id_bytes:
        return "an id is longer than id_bytes"
    if sizes.state_bytes(run) > limits.thread_state_bytes:
        return "the run's state would exceed thread_state_bytes"
    if sizes.command_bytes(run, sizes.body_estimate(run, 0)) > limits.command_bytes:
        return "the run's command would exceed command_bytes, however it is answered"
    return None


def _unusable(question: Question, rules: Rules) -> str | None:
    schema = question.response_schema
    if schema is None:
        return None
    if len(schema) > rules.limits.schema_bytes:
        return "larger than schema_bytes"
    return rules.schemas.unusable(schema)


def _run(event: Interrupted, now: Millis, rules: Rules) -> Run:
    at = min(event.order.at, now)  # a clock that runs ahead must not make later runs look older
    items = []
    for question in event.questions:
        expires_at, flags = expiry.deadline(question, rules.policy, now)
        if _unusable(question, rules) is not None:
            flags = (*flags, "schema_unusable")
        items.append(Item(question, expires_at=expires_at, flags=flags))
    return Run(
        thread=event.thread,
        run_id=event.run_id,
        protocol=event.protocol,
        digest=event.digest,
        at=at,
        generation=event.order.generation,
        origin=event.origin,
        published_at=now,
        items=tuple(items),
        policy=replace(
            rules.policy.run,
            state_bytes=rules.limits.thread_state_bytes,
            command_bytes=rules.limits.command_bytes,
        ),
        native=event.native,
        ahead=event.order.at - at,
    )


def _late(thread: Thread, closed: Closed, now: Millis, rules: Rules) -> Decision:
    """A run older than the newest seen, or of a thread at its end: nobody waits for it."""
    carry = without(thread.carry, closed.run.run_id)
    thread = replace(thread, runs=(*thread.runs, closed.run), carry=carry)
    return _with_early_answers(thread, closed.run, closed.effects, now, rules)


def _with_early_answers(
    thread: Thread, run: Run, effects: tuple[Effect, ...], now: Millis, rules: Rules
) -> Decision:
    """Judge the answers that came before their question, in the order they came."""
    if not thread.parked:
        return Decision(thread, effects)
    approval_id = key_of(run).approval_id
    ids = {approval_id(item.question.interrupt_id) for item in run.items}
    early = [parked for parked in thread.parked if parked.approval_id in ids]
    others = tuple([parked for parked in thread.parked if parked.approval_id not in ids])
    thread = replace(thread, parked=others)
    for parked in early:
        decision = answers.answered(thread, parked.answer, now, rules)
        thread, effects = decision.thread, (*effects, *decision.effects)
    return Decision(thread, effects)
