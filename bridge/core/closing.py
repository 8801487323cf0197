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
    AcceptedAnswer,
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
    """A closed run as the thread remembers it, and what the world is told."""

    run: Run
    effects: tuple[Effect, ...]


def close(run: Run, outcome: RunOutcome, reason: ClosedReason, now: Millis) -> Closed:
    """End an open run without a resume; every approval is upserted with outcome and reason."""
    full = with_outcome(run, [_ended(i, outcome, reason, now) for i in run.items], outcome, now)
    return Closed(remembered(full), publish_all(full))


def _ended(item: Item, outcome: RunOutcome, reason: ClosedReason, now: Millis) -> Item:
    if item.status == "pending":
        return moved(item, _MOVE_OF[outcome], now, reason)
    # An answer that goes nowhere says why; cancelled and expired ones have said it already.
    return revised(item, reason if item.status == "answered" else None)


def give_up(run: Run, items: Sequence[Item], reason: ClosedReason, now: Millis) -> Closed:
    """End a run whose questions are all settled but that cannot be resumed."""
    ended = [_settled(before, item, reason) for before, item in zip(run.items, items, strict=True)]
    full = with_outcome(run, ended, "unresumable", now)
    return Closed(remembered(full), publish_all(full))


def _settled(before: Item, item: Item, reason: ClosedReason) -> Item:
    return replace(item, revision=before.revision + 1, closed_reason=reason)


def remembered(run: Run) -> Run:
    """The closed run without its bodies."""
    return replace(run, items=tuple([_bodiless(item) for item in run.items]), native=None)


def _bodiless(item: Item) -> Item:
    question, answer = item.question, item.answer
    return Item(
        Question(question.interrupt_id, question.kind),
        item.status,
        item.revision,
        item.expires_at,
        item.flags,
        answer
        and AcceptedAnswer(
            answer.status,
            answer.digest,
            answer.answer_id,
            answer.answered_at,
            answer.answered_by,
        ),
        item.closed_at,
        item.closed_reason,
    )


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
        Item(i.question, outcome, 1, i.expires_at, i.flags, None, now, reason) for i in run.items
    ]
    full = with_outcome(run, items, outcome, now)
    return Closed(remembered(full), publish_all(full))
