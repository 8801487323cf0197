"""JSON put together from slices of other JSON, so that free values go out as they came.

What a protocol builds is small objects around payloads; only texts of its own are encoded here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from bridge.core import json_text
from bridge.core.model import JsonText

_encode = msgspec.json.Encoder().encode
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def text(value: str) -> JsonText:
    """A string as JSON text."""
    return _encode(value)


def object_of(members: Mapping[str, JsonText | None]) -> JsonText:
    """An object of slices in the order given; members that are None are left out."""
    pairs = [_encode(name) + b":" + value for name, value in members.items() if value is not None]
    return b"{" + b",".join(pairs) + b"}"


def array_of(items: Iterable[JsonText]) -> JsonText:
    return b"[" + b",".join(items) + b"]"


def members_of(value: JsonText) -> dict[str, JsonText]:
    """An object's members as slices; empty where the value is no object."""
    if not value.lstrip().startswith(b"{"):
        return {}
    return {name: bytes(raw) for name, raw in _MEMBERS.decode(value).items()}


def given(raw: msgspec.Raw) -> JsonText | None:
    """The slice of an optional member; null and absent are one."""
    value = bytes(raw)
    return None if value in {b"", b"null"} else value


def value_of(raw: msgspec.Raw) -> Any:
    """An optional member as a value, to be judged or compared."""
    value = given(raw)
    return None if value is None else json_text.value(value)


def not_null(value: JsonText | None) -> JsonText | None:
    """What an answer holds, for readers that take null for absent."""
    return None if value is None or value.strip() == b"null" else value
