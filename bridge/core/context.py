"""The contexts that runs of a thread left: kept, changed, handed to a resume, outdated.

Each is one run's. So what a newer run of the thread said never reaches the command of an older
one, and a run that ends takes its own along and no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from bridge.core.model import Carried, Carry, Counted, Decision, JsonText, Millis, Thread
from bridge.core.rules import Rules
from bridge.core.runs import without
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


def carried(thread: Thread, event: Carry, now: Millis, rules: Rules) -> Decision:
    """Keep a run's context as it is now; one that is too large is dropped with what it replaces.

    An older one would continue the run from a point that it has left. What is told of a run that
    has asked is told again: its context stays what it was.
    """
    run_id = _begun_last(thread) if event.run_id is None else event.run_id
    if run_id is None:
        return Decision(thread, _belongs_nowhere(event))
    if any(run.run_id == run_id for run in thread.runs):
        return Decision(thread)
    before = body_of(thread.carry, run_id)
    body = _changed(before, event.body) if event.run_id is None else event.body
    if body == before:
        return Decision(thread)
    entry = entry_of(thread.carry, run_id)
    announced = () if entry is None else entry.announced
    latest = Carried(run_id, body or b"", now + rules.policy.run.closed_retention, announced)
    counts: tuple[Counted, ...] = ()
    if carried_bytes(latest) > rules.limits.carry_bytes:
        latest = replace(latest, body=b"")
        counts = (Counted("carry_dropped", "too_large"),)
    others = without(thread.carry, run_id)
    if not latest.body and not announced:
        return Decision(with_carry(thread, others), counts)
    kept = room_beside(latest, others, thread, rules)
    counts += (Counted("carry_dropped", "abandoned"),) * (len(others) - len(kept))
    return Decision(with_carry(thread, (*kept, latest)), counts)


def outdated(thread: Thread, due: Millis) -> Decision:
    """The thread without contexts that nothing came of; all are kept while one of its runs asks."""
    if not thread.carry or any(run.outcome is None for run in thread.runs):
        return Decision(thread)
    kept = tuple([context for context in thread.carry if context.until > due])
    if len(kept) == len(thread.carry):
        return Decision(thread)
    told = [context for context in thread.carry if context.until <= due and context.announced]
    return Decision(with_carry(thread, kept), (Counted("carry_dropped", "unasked"),) * len(told))


def _begun_last(thread: Thread) -> str | None:
    """The run that began last and has not asked."""
    asked = {run.run_id for run in thread.runs}
    begun = (context.run_id for context in reversed(thread.carry))
    return next((run_id for run_id in begun if run_id and run_id not in asked), None)


def _belongs_nowhere(event: Carry) -> tuple[Counted, ...]:
    """A change of a context where no run has begun; the end of one that nobody saw is nothing."""
    return () if event.body is None else (Counted("unattributable", event.thread.source),)


def _changed(before: JsonText | None, change: JsonText | None) -> JsonText | None:
    if before is None or change is None:
        return None
    members = {**_members_of(before), **_members_of(change)}
    return _text_of({name: raw for name, raw in members.items() if bytes(raw) != b"null"})


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
    return Thread(thread.runs, thread.parked, carry)
