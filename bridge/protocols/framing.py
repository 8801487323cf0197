"""What others wrap around a record before it reaches its topic, taken off before anything is read.

Only what is known for certain: CloudEvents in structured mode, Connect's schema beside a payload,
a JSON text around JSON, Confluent's prefix before JSON, a byte order mark, one frame of a stream.
Anything else is named by a pointer. Native JSON inside comes out as the slice it stands in.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from bridge.core import json_text
from bridge.core.json_text import JsonError
from bridge.core.model import Counted, Refusal
from bridge.core.record import Header, Record
from bridge.protocols.event import refusal_of
from bridge.protocols.fields import Unreadable

Pointer = tuple[str, ...]
"""The tokens of a JSON Pointer."""

_LAYERS: Final = 8  # a bus, an outbox and a serializer make three
_MAGIC: Final = b"\0"
_PREFIX: Final = 5  # the magic byte and four bytes of a schema's id
_MARK: Final = b"\xef\xbb\xbf"
_STREAM = re.compile(rb"(?:data|event|id|retry)?:")
_FRAME_END = re.compile(r"\r\n\r\n|\n\n|\r\r")
_LINE_END = re.compile(r"\r\n|\n|\r")  # and no others: U+2028 and the like may stand in JSON
_CLOUD_EVENT: Final = frozenset({"specversion", "id", "source", "type"})
_CONNECT: Final = frozenset({"schema", "payload"})
_members = msgspec.json.Decoder(dict[str, Raw]).decode
_items = msgspec.json.Decoder(list[Raw]).decode
_text = msgspec.json.Decoder(str).decode


class Bare(Struct, frozen=True, gc=False):
    """A record without its frames, what was taken off, or why that could not be done.

    A value of None is nothing at all: a delete, or a frame around null.
    """

    record: Record
    counts: tuple[Counted, ...] = ()
    refusal: Refusal | None = None


def bare(record: Record, pointer: Pointer = (), most: int = 1_000_000) -> Bare:
    """The record as it was before others wrapped it; the same object where nobody did.

    `pointer` says where a source's events stand in what remains then; an event that has nothing
    there is read as it is. A value above `most` bytes is not looked at.
    """
    value, key = record.value, record.key
    plain_key = key is None or key[:1] not in _FRAMED_KEY
    if value is None or len(value) > most or (plain_key and not pointer and _is_plain(value)):
        return Bare(record)
    layers = _Layers(value)
    try:
        layers.take_off()
        if pointer:
            layers.go_to(pointer)
            layers.take_off()
    except (JsonError, Unreadable) as error:
        return Bare(record, layers.counts(), refusal_of(error))
    if not plain_key:
        key = bare_key(key or b"")
    if layers.value == value and key == record.key:
        return Bare(record)
    headers = (*record.headers, *layers.headers)
    inner = None if layers.value == b"null" else layers.value
    taken = replace(record, value=inner, key=key, headers=headers, whole=record)
    return Bare(taken, layers.counts())


def read_pointer(text: str) -> Pointer:
    """The tokens of a JSON Pointer (RFC 6901) to a member. Raises ValueError."""
    if not re.fullmatch(r"(?:/(?:[^~/]|~[01])*)+", text):
        raise ValueError("must be a JSON Pointer such as /payload/event")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in text[1:].split("/"))


_FRAMED_KEY: Final = frozenset({b'"', b"{", _MAGIC, _MARK[:1]})


def bare_key(key: bytes) -> bytes:
    """A key as its sender meant it: `"thr-41"` and Connect's `{schema, payload}` are thr-41."""
    if key.startswith(_MAGIC) and len(key) > _PREFIX:
        key = key[_PREFIX:]
    key = key.removeprefix(_MARK)
    try:
        if key.startswith(b"{"):
            members = _members(key)
            key = bytes(members["payload"]) if members.keys() == _CONNECT else key
        return _text(key).encode() if key.startswith(b'"') else key
    except (msgspec.DecodeError, RecursionError):
        return key


def _is_plain(value: bytes) -> bool:
    """Whether the value is an object in which no frame is spelled; nearly every one is.

    Words without quotes: a quote is so common in JSON that looking for it takes twice as long.
    """
    if value[:1] != b"{" or b"specversion" in value:
        return False
    return b"payload" not in value or b"schema" not in value


class _Layers:
    """A value that loses one frame after the other."""

    def __init__(self, value: bytes) -> None:
        self.value = value
        self.headers: list[Header] = []
        self._kinds: list[str] = []

    def counts(self) -> tuple[Counted, ...]:
        return tuple(Counted("lenient", f"framing_{kind}") for kind in dict.fromkeys(self._kinds))

    def take_off(self) -> None:
        """Every frame that is known for certain. Raises JsonError and Unreadable."""
        for _ in range(_LAYERS):
            layer = self._layer()
            if layer is None:
                return
            kind, self.value = layer
            self._kinds.append(kind)

    def go_to(self, pointer: Pointer) -> None:
        """What stands at the pointer, JSON texts on the way included; nothing there, no change."""
        value = self.value
        try:
            for token in pointer:
                if value.lstrip().startswith(b'"'):
                    value = _text(value).encode()
                if not value.lstrip().startswith(b"["):
                    value = bytes(_members(value)[token])
                elif token.isdecimal():
                    value = bytes(_items(value)[int(token)])
                else:
                    return
        except (LookupError, ValueError, RecursionError):  # msgspec's errors are ValueErrors
            return
        self.value = value
        self._kinds.append("pointer")

    def _layer(self) -> tuple[str, bytes] | None:
        """The outermost frame's kind and what is inside; None where there is none."""
        value = self.value
        if value.startswith(_MARK):
            return "bom", value[len(_MARK) :]
        if value.startswith(_MAGIC):
            try:
                msgspec.json.decode(value[_PREFIX:])
            except (msgspec.DecodeError, RecursionError):
                detail = "Confluent's framing around Avro or Protobuf: only JSON is read here"
                raise Unreadable("framing", "", detail) from None
            return "confluent", value[_PREFIX:]
        first = value.lstrip()[:1]
        if first == b'"':
            inner = _read(_text, value) or ""
            is_json = inner.lstrip()[:1] in {"{", "[", '"'}
            return ("json_text", inner.encode()) if is_json else None
        if first == b"[" and b'"specversion"' in value:
            batch = [_read(_members, item) or {} for item in _read(_items, value) or ()]
            if batch and all(members.keys() >= _CLOUD_EVENT for members in batch):
                detail = "a batch of CloudEvents: write one record for each event"
                raise Unreadable("framing", "", detail)
        if first == b"{":
            return self._envelope()
        return ("sse", _frame(value)) if _STREAM.match(value) else None

    def _envelope(self) -> tuple[str, bytes] | None:
        members = _read(_members, self.value) or {}
        if members.keys() == _CONNECT:
            self._check_once("payload")
            return "connect", bytes(members["payload"])
        if not members.keys() >= _CLOUD_EVENT:
            return None
        for name, member in (("traceparent", "traceparent"), ("traceparent", "traceid")):
            self._trace(name, members.get(member))
        self._trace("tracestate", members.get("tracestate"))
        in_base64 = bytes(members.get("data_base64", b"null")) != b"null"
        if "data" in members and not (in_base64 and bytes(members["data"]) == b"null"):
            self._check_once("data")
            return "cloudevent", bytes(members["data"])
        if "data_base64" in members:
            self._check_once("data_base64")
            try:
                return "cloudevent", base64.b64decode(_text(members["data_base64"]), validate=True)
            except ValueError:  # msgspec's and binascii's, and base64's own for what is not ASCII
                raise Unreadable("framing", "/data_base64", "must be base64") from None
        return None

    def _trace(self, name: str, value: Raw | None) -> None:
        """Pass on a context that is a text; any other is worth no more than none."""
        if value is None or not bytes(value).startswith(b'"'):
            return
        with suppress(msgspec.DecodeError):  # bytes that are no UTF-8
            self.headers.append((name, _text(value).encode()))

    def _check_once(self, name: str) -> None:
        """A member that stands there twice says two things: strict reading refuses it."""
        if self.value.count(f'"{name}"'.encode()) > 1:
            json_text.read(self.value)


T = TypeVar("T")


def _read(decode: Callable[[bytes | Raw], T], value: bytes | Raw) -> T | None:
    """The value as that decoder has it; None where it is none of that kind."""
    try:
        return decode(value)
    except (msgspec.DecodeError, RecursionError):
        return None


def _frame(value: bytes) -> bytes:
    """The data of the one frame of a server-sent event."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        raise Unreadable("framing", "", "SSE that is not UTF-8") from None
    frames = []
    for frame in _FRAME_END.split(text):
        lines = [line for line in _LINE_END.split(frame) if line.startswith("data:")]
        if lines:
            frames.append("\n".join(line[5:].removeprefix(" ") for line in lines))
    if len(frames) != 1:
        detail = f"{len(frames)} SSE frames with data: write the data of each frame as one record"
        raise Unreadable("framing", "", detail)
    return frames[0].encode()
