"""One record before anybody knows whether it matters: the end of a turn in it, found cheaply.

A topic holds outputs, snapshots and stream chunks; most say nothing that a question depends on.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from bridge.core.instants import usable_instant
from bridge.core.json_text import JsonError
from bridge.core.model import Millis
from bridge.protocols.event import RawEvent, loosely
from bridge.protocols.fields import Fields, Unreadable, spelling
from bridge.protocols.genkit.options import Options
from bridge.protocols.hidden import refuse_hidden, spells_interrupt
from bridge.protocols.slices import given

NAME: Final = "genkit"


class Event(RawEvent[Options]):
    """One record of Genkit, with the settings of its source."""

    __slots__ = ()


class _State(Struct, gc=False):
    sessionId: str | None = None


class Turn(Struct, gc=False):
    """What an output and a snapshot tell of the end of a turn."""

    finishReason: str | None = None
    finish_reason: str | None = None
    status: str | None = None
    sessionId: str | None = None
    snapshotId: str | None = None
    createdAt: str | None = None
    state: _State | None = None


class Chunk(Struct, gc=False):
    """A piece of a turn as it is streamed: it tells nothing that the turn's end does not."""

    modelChunk: Raw = Raw()
    customPatch: Raw = Raw()
    artifact: Raw = Raw()
    turnEnd: Raw = Raw()


class Wrapper(Turn, gc=False):
    """A turn itself, or what stands around one."""

    protocol: str | None = None
    agent: str | None = None
    stateManagement: str | None = None
    turnId: str | None = None
    runtime: str | None = None
    output: Turn | None = None
    snapshot: Turn | None = None
    result: Turn | None = None
    message: Raw = Raw()  # an output's own, or what stands around a piece
    error: Raw = Raw()
    modelChunk: Raw = Raw()
    customPatch: Raw = Raw()
    artifact: Raw = Raw()
    turnEnd: Raw = Raw()


_WRAPPER = msgspec.json.Decoder(Wrapper)
_CHUNK = msgspec.json.Decoder(Chunk)
_PLACES: Final = ("output", "snapshot", "result")


class Found(Struct, frozen=True, gc=False):
    """A turn in its record; `place` is the member it stands in, empty where it is the record."""

    turn: Turn
    wrapper: Wrapper
    place: str

    @property
    def pointer(self) -> str:
        return f"/{self.place}" if self.place else ""


def created_at(found: Found) -> Millis | None:
    """When the turn ended, by its own word; a usable instant or None."""
    return usable_instant(found.turn.createdAt)


def find_turn(event: Event) -> Found | None:
    """The turn that the record tells of, at less than the price of parsing it; None for none.

    Raises JsonError or Unreadable where the value is no JSON object, or looks like a turn and has
    members of other types.
    """
    try:
        wrapper = _WRAPPER.decode(event.value)
    except (msgspec.DecodeError, RecursionError):
        _check_odd_text(event)
        return None
    if wrapper.finishReason is not None or wrapper.finish_reason is not None:
        return Found(wrapper, wrapper, "")
    if wrapper.output is not None:
        return Found(wrapper.output, wrapper, "output")
    if wrapper.snapshot is not None:
        return Found(wrapper.snapshot, wrapper, "snapshot")
    if wrapper.result is not None:
        return Found(wrapper.result, wrapper, "result")
    refuse_hidden(event, spells_interrupt, _asks)
    if wrapper.protocol is not None:
        raise Unreadable("malformed", "", "a wrapper holds an output or a snapshot")
    # A piece or an error of a stream, bare or as its `message`, tells nothing.
    message = bytes(wrapper.message)
    piece = _CHUNK.decode(message) if message.startswith(b"{") else wrapper
    streamed = given(piece.modelChunk) or given(piece.turnEnd) or given(piece.customPatch)
    if not (streamed or given(piece.artifact) or given(wrapper.error)):
        event.seen.add("unknown_shape")
    return None


def _asks(value: dict[str, Any]) -> bool:
    """Whether this is, in any spelling, a turn that paused, with its parts."""
    reasons = (value.get("finishReason"), value.get("finish_reason"))
    is_turn = isinstance(value.get("message") or value.get("state"), dict)
    return is_turn and any(
        isinstance(r, str) and spelling(r).startswith("interrupt") for r in reasons
    )


# --- What the fast decoder refuses ----------------------------------------------------------------


def _check_odd_text(event: Event) -> None:
    """Read past only if no question can be in it.

    Streams cut emoji into lone surrogates and Python writes NaN: neither matters in a record that
    nobody here reads.
    """
    try:
        value = event.strictly()
    except JsonError:
        if b"interrupt" in event.value or not isinstance(loosely(event.value), dict):
            raise
        event.seen.add("odd_json")
        return
    _check_types(Fields(value, "", event.seen), Wrapper)
    for place in _PLACES:
        inner = value.get(place)
        if isinstance(inner, dict):
            _check_types(Fields(inner, f"/{place}", event.seen), Turn)
        elif inner is not None and "protocol" in value:
            raise Unreadable("malformed", f"/{place}", "must be an object")
    refuse_hidden(event, spells_interrupt, _asks)
    event.seen.add("unknown_shape")


def _check_types(fields: Fields, shape: type[Turn]) -> None:
    """Refuses a turn of other types; what has no finish reason and no protocol is not ours."""
    if all(fields.find(name)[1] is None for name in ("finishReason", "protocol")):
        return
    for name in shape.__struct_fields__:
        if name == "state":
            pointer, state = fields.find(name)
            if state is not None:
                Fields(state, pointer, set()).text("sessionId")
        elif name not in _PLACES:
            fields.text(name)
