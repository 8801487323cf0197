"""Coverage: a run with no pending interrupt left becomes one resume command, or says why not.

Here stands what each interrupt's entry on the wire is, who completed the run, and until when
the command may be delivered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from bridge.core import closing, sizes
from bridge.core.closing import Closed
from bridge.core.context import body_of
from bridge.core.ids import key_of
from bridge.core.model import (
    Carried,
    ClosedReason,
    DeadLetter,
    Entry,
    Item,
    JsonText,
    Millis,
    Native,
    Refusal,
    Resume,
    Run,
)
from bridge.core.rules import Rules
from bridge.core.runs import publish_all, revised, with_items, with_outcome

CompletedBy = Literal["answers", "expiry", "mixed"]


def is_complete(items: Sequence[Item]) -> bool:
    """Whether every interrupt was answered, cancelled or has expired."""
    for item in items:  # noqa: SIM110 (a generator here costs as much as all the rest)
        if item.status == "pending":
            return False
    return True


def entries_of(run: Run) -> tuple[Entry, ...]:
    """How each question of a run with nothing pending ended, in the order of the run."""
    approval_id, entries = key_of(run).approval_id, []
    for item in run.items:
        reason, question = item.closed_reason, item.question
        assert reason is not None, "an entry is of a question that has ended"
        is_resolved = reason == "answered"
        answer = item.answer if is_resolved or reason == "cancelled" else None
        entry = Entry(
            question=question,
            approval_id=approval_id(question.interrupt_id),
            status="resolved" if is_resolved else "cancelled",
            closed_reason=reason,
            payload=answer.payload if answer and is_resolved else None,
            metadata=answer.metadata if answer else None,
            answered_by=answer.answered_by if answer else None,
            answered_at=answer.answered_at if answer else None,
            action=answer.action if answer and is_resolved else None,
            revised_input=answer.revised_input if answer and is_resolved else None,
        )
        entries.append(entry)
    return tuple(entries)


def resume(
    run: Run, items: Sequence[Item], carry: Sequence[Carried], now: Millis, rules: Rules
) -> Closed | ClosedReason:
    """The run resumed: its one command and every approval; or the reason why it cannot be.

    `items` are the run's, none pending; those that are still the run's own objects have not
    changed in this decision and get their revision here.
    """
    if any(["no_refusal" in item.flags and item.status != "answered" for item in items]):
        return "no_refusal_configured"
    pairs = zip(run.items, items, strict=True)
    latest = [revised(item) if item is before else item for before, item in pairs]
    full = with_outcome(run, latest, "resumed", now)
    entries = entries_of(full)
    native = _fitting(full, entries, body_of(carry, run.run_id), rules)
    if native is None:
        return "command_too_large"
    if native.abandons_siblings:
        abandoned = [
            replace(item, closed_reason="sibling_abandoned") if item.status == "answered" else item
            for item in full.items
        ]
        full = with_items(full, abandoned)
        entries = entries_of(full)
    command = Resume(
        run=full,
        entries=entries,
        native=native,
        completed_by=completed_by(full.items),
        issued_at=now,
        deliver_by=deliver_by(full.items),
    )
    return Closed(closing.remembered(full), (*publish_all(full), command))


def unresumable(run: Run, items: Sequence[Item], reason: ClosedReason, now: Millis) -> Closed:
    """The run closed without a command although nothing is pending: approvals and a dead letter."""
    closed = closing.give_up(run, items, reason, now)
    letter = DeadLetter(_UNRESUMABLE[reason], run)
    return Closed(closed.run, (*closed.effects, letter))


_UNRESUMABLE: dict[ClosedReason, Refusal] = {
    "command_too_large": Refusal(
        "command_too_large", "the resume command does not fit into a record; the run is closed"
    ),
    "no_refusal_configured": Refusal(
        "no_refusal_configured", "an abandoned interrupt has no configured refusal"
    ),
}


def settle(
    run: Run, items: Sequence[Item], carry: Sequence[Carried], now: Millis, rules: Rules
) -> Closed:
    """The end of a run with nothing pending: resumed if it can be, else unresumable."""
    outcome = resume(run, items, carry, now, rules)
    if isinstance(outcome, Closed):
        return outcome
    return unresumable(run, items, outcome, now)


def completed_by(items: Sequence[Item]) -> CompletedBy:
    """Who settled the interrupts: people (cancelling counts), the clock, or both."""
    expired = len([item for item in items if item.status == "expired"])
    if not expired:
        return "answers"
    return "expiry" if expired == len(items) else "mixed"


def deliver_by(items: Sequence[Item]) -> Millis | None:
    """The earliest expiry among resolved entries: afterwards the agent may refuse them."""
    deadlines = [
        item.expires_at
        for item in items
        if item.expires_at is not None and item.closed_reason == "answered"
    ]
    return min(deadlines, default=None)


def _fitting(
    run: Run, entries: Sequence[Entry], carry: JsonText | None, rules: Rules
) -> Native | None:
    """The native body, with the carried context if it fits, without it if only that does."""
    native = rules.build(run, entries, carry)
    if _fits(run, native, rules):
        return native
    if carry is None:
        return None
    native = rules.build(run, entries, None)
    if not _fits(run, native, rules):
        return None
    if _OMITTED in native.notes:
        return native
    return replace(native, notes=(*native.notes, _OMITTED))


_OMITTED = "continuity_omitted"


def _fits(run: Run, native: Native, rules: Rules) -> bool:
    return sizes.command_bytes(run, len(native.body)) <= sizes.most_command(run, rules.limits)
