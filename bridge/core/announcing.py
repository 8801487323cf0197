"""Questions that a run tells while it is under way: kept, and asked when it ends without a word.

They are kept where the run's context is. A run that nobody has named yet has the empty id; what it
told belongs to the run that ends next in the order of its thread, and to no other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from bridge.core.context import entry_of, room_beside, with_carry
from bridge.core.model import (
    Announced,
    Announcement,
    Carried,
    Counted,
    DeadLetter,
    Decision,
    Digest,
    Interrupted,
    Millis,
    Question,
    Refusal,
    RunEnded,
    Thread,
)
from bridge.core.opening import interrupted
from bridge.core.rules import Rules
from bridge.core.runs import without
from bridge.core.sizes import carried_bytes

SYNTHETIC: Final = "synthetic_id"
UNASKED: Final = Counted("carry_dropped", "unasked")
_NAMELESS: Final = ""


def announced(thread: Thread, event: Announced, now: Millis, rules: Rules) -> Decision:
    """Keep one more question of its run; the first that does not fit is refused, and told."""
    run_id = _begun_last(thread) if event.run_id is None else event.run_id
    if _has_asked(thread, run_id):
        return Decision(thread)  # told again
    told = entry_of(thread.carry, run_id)
    before = () if told is None else told.announced
    if _is_known(event.announcement, before):
        return Decision(thread)
    until = now + rules.policy.run.closed_retention
    body = b"" if told is None else told.body
    entry = Carried(run_id, body, until, (*before, event.announcement))
    too_many = len(entry.announced) > rules.limits.interrupts_per_run
    if too_many or carried_bytes(entry) > rules.limits.carry_bytes:
        detail = "more questions than a run under way may keep; those before it are kept"
        return Decision(thread, (DeadLetter(Refusal("limit", detail)),))
    others = without(thread.carry, run_id)
    kept = room_beside(entry, others, thread, rules)
    counts = (Counted("carry_dropped", "abandoned"),) * (len(others) - len(kept))
    return Decision(with_carry(thread, (*kept, entry)), counts)


def ended(thread: Thread, event: RunEnded, now: Millis, rules: Rules) -> Decision:
    """The run is over: it asks what it told where its end says nothing of it; else that is gone."""
    if event.run_id is None:
        event = replace(event, run_id=_begun_last(thread))
    asked = asked_by(thread, event)
    if asked is None:
        return Decision(forgotten(thread, event), _lost(thread, event))
    if isinstance(asked, Refusal):
        return Decision(forgotten(thread, event), (DeadLetter(asked),))
    return interrupted(with_carry(thread, tuple(_left(thread, event))), asked, now, rules)


def forgotten(thread: Thread, event: RunEnded) -> Thread:
    """The thread without anything of the run that is over."""
    left = tuple(context for context in thread.carry if not _is_over(thread, event, context))
    return thread if len(left) == len(thread.carry) else with_carry(thread, left)


def asked_by(thread: Thread, event: RunEnded) -> Interrupted | Refusal | None:
    """What the end of a run asks; None for nothing, and where its record may be out of order."""
    told = _told(thread, event) if event.asks else ()
    if not told or not event.run_id:
        return None
    questions = tuple(_named(one.question, index) for index, one in enumerate(told))
    if len({question.interrupt_id for question in questions}) != len(questions):
        return Refusal("duplicate_interrupt_id", "the run told two questions under one id")
    return Interrupted(
        thread=event.thread,
        run_id=event.run_id,
        protocol=event.protocol,
        questions=questions,
        digest=Digest(hashlib.sha256(b"".join(one.digest for one in told)).digest()),
        order=event.order,
        origin=event.origin,
    )


def _told(thread: Thread, event: RunEnded) -> tuple[Announcement, ...]:
    """What its run told: under its name, else without one, where the order is that of the run."""
    for run_id in (event.run_id, _NAMELESS if event.in_order else None):
        entry = None if run_id is None else entry_of(thread.carry, run_id)
        if entry is not None and entry.announced:
            return entry.announced
    return ()


def _lost(thread: Thread, event: RunEnded) -> tuple[Counted, ...]:
    """What is forgotten without having been asked, unless the end of its run says why."""
    gone = [context for context in thread.carry if _is_over(thread, event, context)]
    if not any(context.announced for context in gone):
        return ()
    if not event.in_order:
        return (Counted("unattributable", event.thread.source), UNASKED)
    return () if event.explains else (UNASKED,)


def _left(thread: Thread, event: RunEnded) -> Iterator[Carried]:
    """The contexts once the run asks: it keeps its own, without what it told."""
    for context in thread.carry:
        if not _is_over(thread, event, context):
            yield context
        elif context.run_id and context.body:
            yield replace(context, announced=())


def _is_over(thread: Thread, event: RunEnded, context: Carried) -> bool:
    if context.run_id == _NAMELESS:
        return True
    return context.run_id == event.run_id and not _has_asked(thread, context.run_id)


def _begun_last(thread: Thread) -> str:
    """The run that began last and has not asked; the nameless one where none is known."""
    begun = (context.run_id for context in reversed(thread.carry))
    return next((run_id for run_id in begun if not _has_asked(thread, run_id)), _NAMELESS)


def _has_asked(thread: Thread, run_id: str) -> bool:
    return any(run.run_id == run_id for run in thread.runs)


def _is_known(one: Announcement, told: Sequence[Announcement]) -> bool:
    """Told again under an id of its own; what has none may well be asked twice."""
    return SYNTHETIC not in one.question.flags and any(one.digest == each.digest for each in told)


def _named(question: Question, index: int) -> Question:
    if SYNTHETIC not in question.flags:
        return question
    return replace(question, interrupt_id=f"legacy-{index}")
