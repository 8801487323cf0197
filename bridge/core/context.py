"""The contexts that runs of a thread left: kept, changed, handed to a resume, outdated.

Each is one run's. So what a newer run of the thread said never reaches the command of an older
one, and a run that ends takes its own along and no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

import msgspec
from msgspec.structs import replace

from bridge.core.model import (
    Carried,
    Context,
    Counted,
    Decision,
    Drop,
    JsonText,
    Keep,
    Millis,
    Outdate,
    Patch,
    Thread,
)
from bridge.core.rules import Rules
from bridge.core.runs import has_asked, without
from bridge.core.sizes import carried_bytes

_BEGUN: Final = 4  # a run may start others on its own thread before it asks
_members_of = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_text_of = msgspec.json.Encoder().encode


def entry_of(carry: Sequence[Carried], run_id: str) -> Carried | None:
    """What is kept of a run, if anything is."""
    return next((context for context in carry if context.run_id == run_id), None)


def body_of(carry: Sequence[Carried], run_id: str) -> JsonText | None:
    """The context that a run left, if it is kept; it may have told nothing but questions."""
    entry = entry_of(carry, run_id)
    return None if entry is None else entry.body or None


def changed(thread: Thread, event: Context, now: Millis, rules: Rules) -> Decision:
    """The thread with the context that one of its runs has now."""
    match event:
        case Keep():
            return _kept(thread, event.run_id, event.body, now, rules)
        case Patch():
            run_id = _begun_last(thread)
            if run_id is None:
                return Decision(thread, (Counted("unattributable", event.thread.source),))
            before = body_of(thread.carry, run_id)
            if before is None:
                return Decision(thread)
            members = {**_members_of(before), **_members_of(event.members)}
            left = {name: raw for name, raw in members.items() if bytes(raw) != b"null"}
            return _kept(thread, run_id, _text_of(left), now, rules)
        case Drop():
            return _dropped(thread, event.run_id)
        case Outdate():
            # The end of a run that nobody saw begin is nothing.
            run_id = _begun_last(thread)
            return Decision(thread) if run_id is None else _dropped(thread, run_id)
        case _:
            assert_never(event)


def outdated(thread: Thread, due: Millis) -> Decision:
    """The thread without contexts that nothing came of; all are kept while one of its runs asks."""
    if not thread.carry or any(run.outcome is None for run in thread.runs):
        return Decision(thread)
    kept = tuple([context for context in thread.carry if context.until > due])
    if len(kept) == len(thread.carry):
        return Decision(thread)
    told = [context for context in thread.carry if context.until <= due and context.announced]
    return Decision(with_carry(thread, kept), (Counted("carry_dropped", "unasked"),) * len(told))


def _kept(thread: Thread, run_id: str, body: JsonText, now: Millis, rules: Rules) -> Decision:
    """A context as it is now; one that is too large is dropped with what it replaces.

    An older one would continue the run from a point that it has left. What is told of a run that
    has asked is told again: its context stays what it was.
    """
    if has_asked(thread, run_id) or body == body_of(thread.carry, run_id):
        return Decision(thread)
    entry = entry_of(thread.carry, run_id)
    announced = () if entry is None else entry.announced
    latest = Carried(run_id, body, now + rules.policy.run.closed_retention, announced)
    if carried_bytes(latest) > rules.limits.carry_bytes:
        return Decision(_dropped(thread, run_id).thread, (Counted("carry_dropped", "too_large"),))
    others = without(thread.carry, run_id)
    kept = room_beside(latest, others, thread, rules)
    counts = (Counted("carry_dropped", "abandoned"),) * (len(others) - len(kept))
    return Decision(with_carry(thread, (*kept, latest)), counts)


def _dropped(thread: Thread, run_id: str) -> Decision:
    """What its run told stays, to be asked."""
    entry = entry_of(thread.carry, run_id)
    if entry is None or not entry.body or has_asked(thread, run_id):
        return Decision(thread)
    left = without(thread.carry, run_id)
    if entry.announced:
        left = (*left, replace(entry, body=b""))
    return Decision(with_carry(thread, left))


def _begun_last(thread: Thread) -> str | None:
    """The run that began last and has not asked."""
    begun = (context.run_id for context in reversed(thread.carry))
    return next((name for name in begun if name and not has_asked(thread, name)), None)


def room_beside(
    latest: Carried, others: Sequence[Carried], thread: Thread, rules: Rules
) -> tuple[Carried, ...]:
    """The contexts of runs that ask, and of runs begun before as many of the newest as fit."""
    asked = {run.run_id for run in thread.runs}
    begun, room = 1, rules.limits.carry_bytes - carried_bytes(latest)
    kept = []
    for context in reversed(others):
        if context.run_id not in asked:
            begun, room = begun + 1, room - carried_bytes(context)
            if begun > _BEGUN or room < 0:
                continue
        kept.append(context)
    return tuple(reversed(kept))


def with_carry(thread: Thread, carry: tuple[Carried, ...]) -> Thread:
    """The thread with other contexts."""
    return replace(thread, carry=carry)
