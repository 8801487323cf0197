"""The newest model message of a turn: its tool requests, and which of them wait for an answer.

Names, refs and inputs stay the slices they arrived in; parsed values only judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Raw

from bridge.core.model import JsonText
from bridge.protocols.fields import Fields
from bridge.protocols.genkit.parts import verbatim

# --- Where the free JSON of a message stands ------------------------------------------------------


class _RequestSlices(msgspec.Struct):
    name: Raw = Raw()
    ref: Raw = Raw()
    input: Raw = Raw()


class _PartSlices(msgspec.Struct):
    toolRequest: _RequestSlices | None = None
    metadata: dict[str, Raw] | None = None


class _MessageSlices(msgspec.Struct):
    content: list[_PartSlices] | None = None


class _StateSlices(msgspec.Struct):
    messages: list[Raw] | None = None


class _TurnSlices(msgspec.Struct):
    message: Raw = Raw()
    state: Raw = Raw()


_TURN = msgspec.json.Decoder(_TurnSlices)
_STATE = msgspec.json.Decoder(_StateSlices)
_MESSAGE = msgspec.json.Decoder(_MessageSlices)


# --- Requests -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """One tool request; `index` is that of its part, `texts` are the slices of its metadata."""

    index: int
    pointer: str
    name: str
    ref: str | None
    input: Any
    metadata: dict[str, Any]
    name_text: JsonText
    ref_text: JsonText | None
    input_text: JsonText | None
    texts: dict[str, JsonText]
    is_pending: bool
    """Whether the call is interrupted, and neither answered nor settled since."""

    @property
    def is_settled(self) -> bool:
        """A sibling that ran already; what it gave may well be null."""
        return "pendingOutput" in self.metadata

    @property
    def is_resolved(self) -> bool:
        return self.metadata.get("resolvedInterrupt") is not None

    @property
    def raised_by(self) -> Any:
        """The hook that interrupted the call; only Go says so, and not for the tool itself."""
        return self.metadata.get("interruptedBy")


def is_truthy(value: Any) -> bool:
    """Truth as JavaScript has it: an empty object is an interrupt too."""
    return bool(value) if value is None or isinstance(value, int | Decimal | str) else True


def requests_of(
    turn: dict[str, Any], text: JsonText, pointer: str, seen: set[str]
) -> list[Request]:
    """The tool requests of the newest model message, in the order of their parts.

    The output's own message counts if the model wrote it, else the state's newest one. `text` and
    `pointer` are those of the turn. Raises Unreadable where a message has another shape.
    """
    pointer, message, text = _newest(turn, text, pointer, seen)
    if message is None:
        return []
    pointer, parts = Fields(message, pointer, seen).array("content")
    found = [_Part(part, f"{pointer}/{index}", seen) for index, part in enumerate(parts)]
    if not any(part.request for part in found):
        return []
    slices = _MESSAGE.decode(text).content or []
    return [
        part.read(index, slices[index])
        for index, part in enumerate(found)
        if part.request is not None
    ]


def _newest(
    turn: dict[str, Any], text: JsonText, pointer: str, seen: set[str]
) -> tuple[str, dict[str, Any] | None, JsonText]:
    """(pointer, newest model message, its text)."""
    fields, slices = Fields(turn, pointer, seen), _TURN.decode(text)
    message = fields.object("message")
    if message is not None and message.get("role") == "model":
        return f"{pointer}/message", message, bytes(slices.message)
    state = fields.object("state")
    if state is None:
        return pointer, None, b""
    at, messages = Fields(state, f"{pointer}/state", seen).array("messages")
    for index in range(len(messages) - 1, -1, -1):
        one = messages[index]
        if isinstance(one, dict) and one.get("role") == "model":
            texts = _STATE.decode(bytes(slices.state)).messages or []
            return f"{at}/{index}", one, bytes(texts[index])
    return pointer, None, b""


class _Part:
    """One part, its shape looked at before anything of it is sliced."""

    def __init__(self, part: Any, pointer: str, seen: set[str]) -> None:
        fields = Fields(part, pointer, seen)
        self.pointer = pointer
        self.metadata = fields.object("metadata") or {}
        self.request: Fields | None = None
        if part.get("toolRequest") is not None:
            self.request = Fields(part["toolRequest"], f"{pointer}/toolRequest", seen)
            self.input = part["toolRequest"].get("input")

    def read(self, index: int, slices: _PartSlices) -> Request:
        assert self.request is not None
        texts, metadata = slices.toolRequest or _RequestSlices(), self.metadata
        is_done = "pendingOutput" in metadata or metadata.get("resolvedInterrupt") is not None
        return Request(
            index=index,
            pointer=self.pointer,
            name=self.request.required_text("name"),
            ref=self.request.text("ref"),
            input=self.input,
            metadata=metadata,
            name_text=bytes(texts.name),
            ref_text=verbatim(texts.ref),
            input_text=verbatim(texts.input),
            texts={key: bytes(raw) for key, raw in (slices.metadata or {}).items()},
            is_pending=not is_done and is_truthy(metadata.get("interrupt")),
        )
