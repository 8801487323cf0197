"""Deadlines of questions: which instant counts, and what happens when it has come.

A deadline is fixed when the question is published and only ever compared with a given `now`.
"""

from __future__ import annotations

from bridge.core.instants import parse_instant
from bridge.core.model import ClosedReason, Item, Millis, Question, Run, SourcePolicy
from bridge.core.runs import moved


def deadline(
    question: Question, policy: SourcePolicy, now: Millis
) -> tuple[Millis | None, tuple[str, ...]]:
    """The effective expiry and the question's flags.

    The question's own instant wins; one that cannot be read means never, flagged, because a guess
    could abandon a question that still waits. Without one, the source's default_ttl counts,
    except where nobody could be refused or the answer is given elsewhere.
    """
    if question.expires_at_raw is not None:
        instant = parse_instant(question.expires_at_raw)
        if instant is None:
            return None, (*question.flags, "expiry_unreadable")
        return instant, question.flags
    if policy.default_ttl is None or question.kind == "authorization":
        return None, question.flags
    if "no_refusal" in question.flags:
        return None, question.flags
    return now + policy.default_ttl, question.flags


def may_expire(item: Item) -> bool:
    """Whether the item has a deadline that can still do something while its run is open."""
    return item.expires_at is not None and item.status in ("pending", "answered")


def is_due(item: Item, now: Millis) -> bool:
    """Whether the deadline has come: `now` itself is too late."""
    return item.expires_at is not None and item.expires_at <= now and may_expire(item)


def expired(item: Item, now: Millis, reason: ClosedReason = "expired") -> Item:
    """The item abandoned: nobody answered, or the answer outlived its deadline in an open run."""
    if item.status == "answered":
        return moved(item, "expire", now, "lapsed", flag="lapsed")
    return moved(item, "expire", now, reason)


def expire_due(run: Run, instant: Millis, now: Millis) -> list[Item]:
    """The run's items, those due at `instant` expired or lapsed."""
    return [expired(item, now) if is_due(item, instant) else item for item in run.items]


def lapse_due(items: list[Item], instant: Millis, now: Millis, fresh: int) -> list[Item]:
    """Items of a run that is being completed: answers whose deadline had come by then lapse.

    The answer at `fresh` completes the run and was judged in time already.
    """
    return [
        expired(item, now)
        if index != fresh and item.status == "answered" and is_due(item, instant)
        else item
        for index, item in enumerate(items)
    ]
