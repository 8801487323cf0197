"""Events of a source with continuity: what they mean, and the context that they tell.

Only what names its thread, or has the thread's id for its key, tells anything. An envelope,
`{"event": …, "input": …}`, has the event inside and its run's `RunAgentInput` beside it.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from bridge.core.json_text import JsonError
from bridge.core.model import (
    Counted,
    Drop,
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
from bridge.protocols.event import refusal_of
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
    """What one event means. Strict JSON is demanded of events that become inputs or a context."""
    event = Event(record.value or b"", record, source, limits, options)
    reading, thread_id = event.read_by(_read), event.key_text()
    if reading.refusal is None or not thread_id:
        return reading
    # A refused record may have been a snapshot: what it would have replaced is outdated. The key
    # names whose; one that lies makes a command say that it lacks its context, no more.
    outdated = Outdate(event.thread(thread_id), event.record.origin)
    return replace(reading, inputs=(outdated,))


def _read(event: Event) -> Reading:
    peeked = _peek(event)
    if peeked.type:
        return _read_one(event, peeked, None)
    _, value = event.fields().find("event")
    if not isinstance(value, dict):
        raise Unreadable("malformed", "/event", "must be an object")
    inside = event.inside(bytes(peeked.event), value)
    try:
        within = _peek(inside)
        if not within.type:
            raise Unreadable("malformed", "/type", "must be a string")
        return _read_one(inside, within, given(peeked.input))
    except Unreadable as error:
        inner = error.refusal
        raise Unreadable(inner.reason, f"/event{inner.pointer}", inner.detail) from None


def _peek(event: Event) -> _Peek:
    try:
        peeked = _PEEK.decode(event.value)
    except (msgspec.DecodeError, RecursionError):
        peeked = _Peek()
    if peeked.type or given(peeked.event) is not None:
        return peeked
    odd = peek(event)
    return _Peek(odd.type, odd.name)


def _read_one(event: Event, peeked: _Peek, beside: JsonText | None) -> Reading:
    """What an event means, and what the context of its run is from here on.

    `beside` is the input that stands beside it in its envelope.
    """
    if peeked.type in _TELLING_NOTHING:
        return _NOTHING
    if peeked.type in _CHANGES:
        return _changed(event, peeked.type)
    reading = read_known(Peek(peeked.type, peeked.name), event)
    origin, seen = event.record.origin, event.seen
    inputs = reading.inputs
    match inputs:
        case (RunStarted() as told, *more):
            begins = given(peeked.input) or beside
            body = context.of_input(begins, told.thread.thread_id, seen, at_start=True)
            inputs = (told, Keep(told.thread, told.run_id, body, origin), *more)
        case (
            Interrupted(run_id=str(run_id)) | RunEnded(run_id=str(run_id)) as told,
            *more,
        ) if beside is not None:
            body = context.of_input(beside, told.thread.thread_id, seen, at_start=False)
            inputs = (Keep(told.thread, run_id, body, origin), told, *more)
        case (RunFailed() as told, *more):
            inputs = (told, Outdate(told.thread, origin), *more)
        case () if peeked.type == "RUN_FINISHED":
            names = _NAMES.decode(event.value)
            thread = event.thread(names.thread_id if names.threadId is None else names.threadId)
            run_id = names.run_id if names.runId is None else names.runId
            inputs = (Drop(thread, run_id, origin),)
    return reading if inputs is reading.inputs else event.reading(*inputs)


def _changed(event: Event, change: str) -> Reading:
    """A change to the context of the run under way on the thread that the key names."""
    thread_id = event.key_text()
    if event.lacks_agent():
        return event.reading()
    if not thread_id:
        return event.unattributable()
    # A delta is not applied; from then on nobody here knows the state.
    body = context.MESSAGES_UNKNOWN if change == "MESSAGES_SNAPSHOT" else context.STATE_UNKNOWN
    counts: tuple[Counted, ...] = ()
    try:
        if change != "STATE_DELTA":
            event.strictly()
            snapshot = _SNAPSHOT.decode(event.value)
            is_state = change == "STATE_SNAPSHOT"
            of = context.of_state if is_state else context.of_messages
            body = of(snapshot.snapshot if is_state else snapshot.messages)
    except (JsonError, Unreadable) as error:
        # Nothing that anybody asked is lost with it: no dead letter, but nothing outdated either.
        counts = (Counted("carry_dropped", refusal_of(error).reason),)
    patch = Patch(event.thread(thread_id), body, event.record.origin)
    return Reading((patch,), counts=(*event.counts(), *counts))


_CHANGES: Final = frozenset({"MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "STATE_DELTA"})
_TELLING_NOTHING: Final = OTHER_TYPES - _CHANGES
