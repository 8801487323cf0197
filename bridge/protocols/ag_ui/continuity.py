"""Events of a source with continuity: what they mean, and the context that they tell.

Only what names its thread, or has the thread's id for its key, tells anything. An envelope,
`{"event": …, "input": …}`, has the event inside and its run's `RunAgentInput` beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from msgspec import Raw

from bridge.core.json_text import JsonError
from bridge.core.model import (
    Counted,
    Drop,
    Input,
    Interrupted,
    JsonText,
    Keep,
    Limits,
    Outdate,
    Patch,
    RunEnded,
    RunFailed,
    RunStarted,
)
from bridge.protocols.ag_ui import context
from bridge.protocols.ag_ui.event import OTHER_TYPES, Event, Peek, peek
from bridge.protocols.ag_ui.options import Options
from bridge.protocols.ag_ui.read import read_known
from bridge.protocols.event import unfit
from bridge.protocols.fields import Unreadable
from bridge.protocols.interface import Reading, Record
from bridge.protocols.slices import given

_NOTHING = Reading()


class _Peek(msgspec.Struct):
    """What tells an event that tells nothing, and an envelope, from others."""

    type: str = ""
    name: Raw = Raw()
    event: Raw = Raw()
    input: Raw = Raw()


class _Names(msgspec.Struct):
    threadId: str | None = None
    thread_id: str = ""
    runId: str | None = None
    run_id: str = ""


class _Snapshot(msgspec.Struct):
    messages: Raw = Raw()
    snapshot: Raw = Raw()


_PEEK = msgspec.json.Decoder(_Peek)
_NAMES = msgspec.json.Decoder(_Names)
_SNAPSHOT = msgspec.json.Decoder(_Snapshot)


def read(record: Record, source: str, limits: Limits, options: Options) -> Reading:
    """What one event means. Strict JSON is asked of events that become inputs or a context."""
    value = record.value or b""
    event = Event(value, record, source, limits, options)
    refusal = unfit(value, limits)
    if refusal is not None:
        return _forgetting(event, Reading(refusal=refusal))
    try:
        peeked = _peek(event)
        if peeked.type in _TELLING_NOTHING:
            return _NOTHING
        return _read(event, peeked, None) if peeked.type else _unwrapped(event, peeked)
    except (JsonError, Unreadable) as error:
        return _forgetting(event, event.refused(error))


def _forgetting(event: Event, refused: Reading) -> Reading:
    """A refused record may have been a snapshot: what it would have replaced is outdated.

    The key names whose; one that lies makes a command say that it lacks its context, no more.
    """
    thread_id = event.key_text()
    if not thread_id:
        return refused
    outdated = Outdate(event.thread(thread_id), event.record.origin)
    return Reading((outdated,), refused.refusal, refused.counts)


def _peek(event: Event) -> _Peek:
    try:
        peeked = _PEEK.decode(event.value)
    except (msgspec.DecodeError, RecursionError):
        peeked = _Peek()
    if peeked.type or given(peeked.event) is not None:
        return peeked
    odd = peek(event)
    return _Peek(odd.type, odd.name)


def _unwrapped(event: Event, envelope: _Peek) -> Reading:
    _, value = event.fields().find("event")
    if not isinstance(value, dict):
        raise Unreadable("malformed", "/event", "must be an object")
    inside = event.inside(bytes(envelope.event), value)
    try:
        peeked = _peek(inside)
        if not peeked.type:
            raise Unreadable("malformed", "/type", "must be a string")
        if peeked.type in _TELLING_NOTHING:
            return _NOTHING
        return _read(inside, peeked, given(envelope.input))
    except Unreadable as error:
        inner = error.refusal
        raise Unreadable(inner.reason, f"/event{inner.pointer}", inner.detail) from None


def _read(event: Event, peeked: _Peek, beside: JsonText | None) -> Reading:
    """One event, and the input that its envelope has beside it."""
    change = _CHANGES.get(peeked.type)
    if change is not None:
        return _changed(event, change)
    reading = read_known(Peek(peeked.type, peeked.name), event)
    if reading.inputs:
        begins = given(peeked.input) or beside
        told, *more = reading.inputs
        return event.reading(*_with_context(event, told, begins, beside), *more)
    if peeked.type == "RUN_FINISHED":
        names = _NAMES.decode(event.value)
        thread = event.thread(names.thread_id if names.threadId is None else names.threadId)
        run_id = names.run_id if names.runId is None else names.runId
        return event.reading(Drop(thread, run_id, event.record.origin))
    return reading


def _with_context(
    event: Event, told: Input, begins: JsonText | None, ends: JsonText | None
) -> tuple[Input, ...]:
    """What the run's own context is from here on, beside what its event means."""
    origin = event.record.origin
    match told:
        case RunStarted():
            of_start = context.of_input(begins, told.thread.thread_id, event.seen, at_start=True)
            return told, Keep(told.thread, told.run_id, of_start, origin)
        case Interrupted() if ends is not None:
            of_end = context.of_input(ends, told.thread.thread_id, event.seen, at_start=False)
            return Keep(told.thread, told.run_id, of_end, origin), told
        case RunEnded(run_id=str(run_id)) if ends is not None:
            of_end = context.of_input(ends, told.thread.thread_id, event.seen, at_start=False)
            return Keep(told.thread, run_id, of_end, origin), told
        case RunFailed():
            return told, Outdate(told.thread, origin)
        case _:
            return (told,)


def _changed(event: Event, change: Callable[[Event], JsonText]) -> Reading:
    """A change to the context of the run under way on the thread that the key names."""
    thread_id = event.key_text()
    if event.lacks_agent():
        return event.reading()
    if not thread_id:
        return event.unattributable()
    counts: tuple[Counted, ...] = ()
    try:
        body = change(event)
    except (JsonError, Unreadable) as error:
        # Nothing that anybody asked is lost with it: no dead letter, but nothing outdated either.
        code = error.code if isinstance(error, JsonError) else error.refusal.reason
        body, counts = _unknown(change), (Counted("carry_dropped", code),)
    patch = Patch(event.thread(thread_id), body, event.record.origin)
    return Reading((patch,), counts=(*event.counts(), *counts))


def _messages(event: Event) -> JsonText:
    event.strictly()
    changed = context.of_messages(_SNAPSHOT.decode(event.value).messages)
    if changed is None:
        raise Unreadable("malformed", "/messages", "must be an array")
    return changed


def _state(event: Event) -> JsonText:
    event.strictly()
    return context.of_state(_SNAPSHOT.decode(event.value).snapshot)


def _patched_state(_: Event) -> JsonText:
    """A delta is not applied; from then on nobody here knows the state."""
    return context.STATE_UNKNOWN


def _unknown(change: Callable[[Event], JsonText]) -> JsonText:
    return context.MESSAGES_UNKNOWN if change is _messages else context.STATE_UNKNOWN


_CHANGES: Final[Mapping[str, Callable[[Event], JsonText]]] = {
    "MESSAGES_SNAPSHOT": _messages,
    "STATE_SNAPSHOT": _state,
    "STATE_DELTA": _patched_state,
}
_TELLING_NOTHING: Final = OTHER_TYPES - _CHANGES.keys()
