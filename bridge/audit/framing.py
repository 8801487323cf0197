"""What others wrap around a record before it reaches its topic, taken off in a naive way.

CloudEvents in structured mode, Connect's schema beside a payload, JSON inside a JSON text,
Confluent's prefix, a byte order mark, one frame of a stream; and what a source's pointer names.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from bridge.audit import text
from bridge.audit.log import LogRecord

_LAYERS, _DEEP = 8, 10_000
_MARK = b"\xef\xbb\xbf"
_CLOUD_EVENT, _CONNECT = {"specversion", "id", "source", "type"}, {"schema", "payload"}
_STREAM = re.compile(rb"(?:data|event|id|retry)?:")


class Unsure(ValueError):
    """Framing that can be read in two ways; what the bridge made of it is not judged."""


def bare(record: LogRecord, pointer: str | None = None) -> LogRecord:
    """The record as it was before others wrapped it; its value is None for a frame around nothing.

    Raises text.Unreadable for a frame that holds none or many records, Unsure where this reading
    cannot tell.
    """
    value = record.value or b""
    taken = _bare_value(value, pointer)
    key = _bare_key(record.key)
    if taken == value and key == record.key:
        return record
    return record._replace(value=None if taken == b"null" else taken, key=key)


def _bare_value(value: bytes, pointer: str | None) -> bytes:
    plain = value[:1] == b"{" and b"specversion" not in value
    if plain and not pointer and not (b"payload" in value and b"schema" in value):
        return value
    value = _unwrapped(value)
    if not pointer:
        return value
    found: Any = text.peek(value)
    for token in pointer[1:].split("/"):
        name = token.replace("~1", "/").replace("~0", "~")
        found = _member(json.loads(found) if _holds_json(found) else found, name)
    return value if found is _NOTHING else _unwrapped(_slice(value, pointer))


def _unwrapped(value: bytes) -> bytes:
    for _ in range(_LAYERS):
        inner = _inner(value)
        if inner is None:
            break
        value = inner
    return value


def _inner(value: bytes) -> bytes | None:
    """What one frame holds; None where there is no frame."""
    first = value.lstrip()[:1]
    if value.startswith(_MARK):
        return value[len(_MARK) :]
    if value.startswith(b"\0"):
        if text.peek(value[5:]) is None and value[5:].strip() != b"null":
            raise text.Unreadable("framing")
        return value[5:]
    if first == b'"':
        said = text.peek(value)
        quoted = isinstance(said, str) and said.lstrip()[:1] == '"'
        return said.encode() if quoted or _holds_json(said) else None
    if first == b"[":
        items = text.peek(value) if b'"specversion"' in value else None
        if items and all(isinstance(one, dict) and set(one) >= _CLOUD_EVENT for one in items):
            raise text.Unreadable("framing")
        return None
    return _enveloped(value) if first == b"{" else _streamed(value)


def _enveloped(value: bytes) -> bytes | None:
    loose = text.peek(value)
    if not isinstance(loose, dict):
        return None
    in_base64 = loose.get("data_base64") is not None
    if set(loose) == _CONNECT:
        name = "payload"
    elif not set(loose) >= _CLOUD_EVENT:
        return None
    elif "data" in loose and not (in_base64 and loose["data"] is None):
        name = "data"
    elif "data_base64" in loose:
        try:
            return base64.b64decode(loose["data_base64"], validate=True)
        except (ValueError, TypeError):
            raise text.Unreadable("framing") from None
    else:
        return None
    return _slice(value, f"/{name}")


def _streamed(value: bytes) -> bytes | None:
    """The data of the one frame of a server-sent event."""
    if not _STREAM.match(value):
        return None
    try:
        frames = re.split(r"\r\n\r\n|\n\n|\r\r", value.decode())
    except UnicodeDecodeError:
        raise text.Unreadable("framing") from None
    held = [
        [
            line[5:].removeprefix(" ")
            for line in re.split(r"\r\n|\n|\r", frame)
            if line[:5] == "data:"
        ]
        for frame in frames
    ]
    filled = ["\n".join(data) for data in held if data]
    if len(filled) != 1:
        raise text.Unreadable("framing")
    return filled[0].encode()


def _slice(value: bytes, pointer: str) -> bytes:
    """What stands there, its numbers as they were written."""
    try:
        found = text.read(value, _DEEP)
        for token in pointer[1:].split("/"):
            if _holds_json(found):
                found = text.read(found.encode(), _DEEP)
            found = _member(found, token.replace("~1", "/").replace("~0", "~"))
    except text.Unreadable as error:
        raise Unsure("a frame that breaks a rule of JSON") from error
    return text.written(found).encode(errors="surrogatepass")


_NOTHING = object()


def _member(holder: Any, name: str) -> Any:
    if isinstance(holder, list):
        return holder[int(name)] if name.isdecimal() and int(name) < len(holder) else _NOTHING
    return holder.get(name, _NOTHING) if isinstance(holder, dict) else _NOTHING


def _holds_json(value: Any) -> bool:
    """Whether it is a text around an object or a list."""
    starts = isinstance(value, str) and value.lstrip()[:1] in {"{", "["}
    return starts and text.peek(str(value).encode(errors="replace")) is not None


def _bare_key(key: bytes | None) -> bytes | None:
    """A key as its sender meant it, out of quotes or of the object that a serializer made of it."""
    if key is None or key[:1] not in (b'"', b"{", b"\0", _MARK[:1]):
        return key
    inner = key[5:] if key[:1] == b"\0" and len(key) > 5 else key
    inner = inner.removeprefix(_MARK)
    said = text.peek(inner)
    if isinstance(said, dict) and set(said) == _CONNECT:
        said = said["payload"]
        inner = inner if isinstance(said, str) else json.dumps(said).encode()
    return said.encode(errors="replace") if isinstance(said, str) else inner
