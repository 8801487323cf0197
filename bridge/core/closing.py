"""How a run ends, and what is remembered of it afterwards.

The effects of the closing decision carry the run with all its bodies; the thread keeps only
identities, digests, statuses and flags, which is enough to recognise what comes again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from bridge.core.lifecycle import Move
from bridge.core.model import (
    ClosedReason,
    Effect,
    Item,
    Millis,
    Question,
    Run,
    RunOutcome,
)
from bridge.core.runs import moved, publish_all, revised, with_outcome

_MOVE_OF: dict[RunOutcome, Move] = {"superseded": "supersede", "withdrawn": "withdraw"}


class Closed(Struct, frozen=True, gc=False):
    """A closed run as the thread remembers it, and what others see of it."""

    run: Run
    effects: tuple[Effect, ...]


def close(run: Run, outcome: RunOutcome, reason: ClosedReason, now: Millis) -> Closed:
    """End an open run without a resume; every approval is upserted with outcome and reason.

    An answer that goes nowhere says why; cancelled and expired ones have said it already.
    """
    items = [
        moved(item, _MOVE_OF[outcome], now, reason)
        if item.status == "pending"
        else revised(item, reason if item.status == "answered" else None)
        for item in run.items
    ]
    full = with_outcome(run, items, outcome, now)
    return Closed(remembered(full), publish_all(full))


def give_up(run: Run, items: Sequence[Item], reason: ClosedReason, now: Millis) -> Closed:
    """End a run whose questions are all settled but that cannot be resumed."""
    settled = [
        replace(item, revision=before.revision + 1, closed_reason=reason)
        for before, item in zip(run.items, items, strict=True)
    ]
    full = with_outcome(run, settled, "unresumable", now)
    return Closed(remembered(full), publish_all(full))


def remembered(run: Run) -> Run:
    """The closed run without its bodies."""
    items = []
    for item in run.items:
        question = Question(item.question.interrupt_id, item.question.kind)
        answer = item.answer and replace(
            item.answer, payload=None, metadata=None, action=None, revised_input=None
        )
        items.append(replace(item, question=question, answer=answer))
    return replace(run, items=tuple(items), native=None)


def forget_at(run: Run) -> Millis:
    """When a closed run is no longer remembered.

    Counted from the later of close and event time: a replay of its event is refused as too old
    from that instant on, so a forgotten run cannot be asked again.
    """
    closed_at = run.closed_at if run.closed_at is not None else run.published_at
    return max(closed_at, run.origin.timestamp) + run.policy.closed_retention


def close_unpublished(
    run: Run,
    outcome: Literal["superseded", "withdrawn"],
    reason: ClosedReason,
    now: Millis,
) -> Closed:
    """A run that nobody can resume any more when it arrives: published once, as it ended."""
    items = [
        replace(item, status=outcome, closed_at=now, closed_reason=reason) for item in run.items
    ]
    full = with_outcome(run, items, outcome, now)
    return Closed(remembered(full), publish_all(full))
