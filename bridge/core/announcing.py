"""Questions that a run tells while it is under way: kept, and asked when it ends without a word.

They are kept where the run's context is. A run that nobody has named yet has the empty id; what it
told belongs to the run that ends next in the order of its thread, and to no other.
"""

from __future__ import annotations

import hashlib
from typing import Final

from msgspec.structs import replace

from bridge.core.context import entry_of, room_beside, with_carry
from bridge.core.model import (
    Announced,
    Carried,
    Counted,
    DeadLetter,
    Decision,
    Digest,
    Interrupted,
    Millis,
    Refusal,
    RunEnded,
    Thread,
)
from bridge.core.opening import interrupted
from bridge.core.rules import Rules
from bridge.core.runs import has_asked, without
from bridge.core.sizes import carried_bytes

SYNTHETIC: Final = "synthetic_id"
UNASKED: Final = Counted("carry_dropped", "unasked")
_NAMELESS: Final = ""


def announced(thread: Thread, event: Announced, now: Millis, rules: Rules) -> Decision:
    """Keep one more question of its run; the first that does not fit becomes a dead letter."""
    run_id = _begun_last(thread) if event.run_id is None else event.run_id
    if has_asked(thread, run_id):
        return Decision(thread)  # told again
    entry = entry_of(thread.carry, run_id) or Carried(run_id, b"", now)
    one = event.announcement
    # What has no id of its own may well be asked twice.
    if SYNTHETIC not in one.question.flags and one.digest in [a.digest for a in entry.announced]:
        return Decision(thread)
    until = now + rules.policy.run.closed_retention
    entry = replace(entry, until=until, announced=(*entry.announced, one))
    too_many = len(entry.announced) > rules.limits.interrupts_per_run
    if too_many or carried_bytes(entry) > rules.limits.carry_bytes:
        detail = "more questions than a run under way may keep; those before it are kept"
        return Decision(thread, (DeadLetter(Refusal("limit", detail)),))
    others = without(thread.carry, run_id)
    kept = room_beside(entry, others, thread, rules)
    counts = (Counted("carry_dropped", "abandoned"),) * (len(others) - len(kept))
    return Decision(with_carry(thread, (*kept, entry)), counts)


def ended(thread: Thread, event: RunEnded, now: Millis, rules: Rules) -> Decision:
    """The run is over: it asks what it told where its end says nothing of it; else that is gone.

    What is gone without having been asked is counted, unless the end says why.
    """
    if event.run_id is None:
        event = replace(event, run_id=_begun_last(thread))
    asked, over = asked_by(thread, event), [c for c in thread.carry if _is_over(thread, event, c)]
    if asked is None:
        counts: tuple[Counted, ...] = ()
        if any(context.announced for context in over) and not event.in_order:
            counts = (Counted("unattributable", event.thread.source), UNASKED)
        elif any(context.announced for context in over) and not event.explains:
            counts = (UNASKED,)
        return Decision(forgotten(thread, event), counts)
    if isinstance(asked, Refusal):
        return Decision(forgotten(thread, event), (DeadLetter(asked),))
    # The run that asks keeps its context, without what it told.
    left = [
        replace(context, announced=()) if context in over else context
        for context in thread.carry
        if context not in over or (context.run_id and context.body)
    ]
    return interrupted(with_carry(thread, tuple(left)), asked, now, rules)


def forgotten(thread: Thread, event: RunEnded) -> Thread:
    """The thread without anything of the run that is over."""
    left = tuple(context for context in thread.carry if not _is_over(thread, event, context))
    return thread if len(left) == len(thread.carry) else with_carry(thread, left)


def asked_by(thread: Thread, event: RunEnded) -> Interrupted | Refusal | None:
    """What the end of a run asks; None for nothing, and where its record may be out of order.

    That is what the run told under its name, else without one, where the order is that of the run.
    """
    if not event.asks or not event.run_id:
        return None
    names = (event.run_id, _NAMELESS) if event.in_order else (event.run_id,)
    entries = [entry for name in names if (entry := entry_of(thread.carry, name)) is not None]
    told = next((entry.announced for entry in entries if entry.announced), ())
    if not told:
        return None
    questions = tuple(
        replace(one.question, interrupt_id=f"legacy-{index}")
        if SYNTHETIC in one.question.flags
        else one.question
        for index, one in enumerate(told)
    )
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


def _is_over(thread: Thread, event: RunEnded, context: Carried) -> bool:
    if context.run_id == _NAMELESS:
        return True
    return context.run_id == event.run_id and not has_asked(thread, context.run_id)


def _begun_last(thread: Thread) -> str:
    """The run that began last and has not asked; the nameless one where none is known."""
    begun = (context.run_id for context in reversed(thread.carry))
    return next((run_id for run_id in begun if not has_asked(thread, run_id)), _NAMELESS)
