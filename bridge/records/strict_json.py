"""JSON of others, read strictly: lawful JSON, known members only, and a word of help."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from bridge.core import json_text
from bridge.core.json_text import JsonError
from bridge.core.model import Limits, Reason
from bridge.records.reading import Unusable
from bridge.records.unfit import unfit

_T = TypeVar("_T", bound=msgspec.Struct)

_NAME_MAX = 200
_REASONS: dict[str, Reason] = {
    "empty": "empty",
    "not_json": "not_json",
    "json_rules": "json_rules",
    "too_deep": "too_deep",
}


def read_strictly(decoder: msgspec.json.Decoder[_T], value: bytes, limits: Limits) -> _T:
    """The value as the decoder's struct, free JSON as slices. Raises Unusable."""
    if len(value) > limits.record_bytes:
        raise Unusable("too_large", f"the record has more than {limits.record_bytes} bytes")
    try:
        members = json_text.read(value, limits.json_depth)
    except JsonError as error:
        raise Unusable(_REASONS.get(error.code, "not_json"), str(error)) from None
    if not isinstance(members, dict):
        raise Unusable("malformed", "the value is not a JSON object")
    _refuse_unknown(decoder.type.__struct_encode_fields__, members)
    try:
        return decoder.decode(value)
    except msgspec.ValidationError as error:
        raise Unusable("malformed", *unfit(str(error)), members=members) from None


def _refuse_unknown(fields: Iterable[str], members: dict[str, Any]) -> None:
    unknown = sorted(members.keys() - set(fields))
    if unknown:
        name = unknown[0]
        right = {_letters(field): field for field in fields}.get(_letters(name))
        detail = f"unknown field: write {right}" if right else "unknown field"
        pointer = name.replace("~", "~0").replace("/", "~1")[:_NAME_MAX]
        raise Unusable("malformed", detail, f"/{pointer}", members=members)


def _letters(name: str) -> str:
    """Equal for a name in camelCase, PascalCase, kebab-case and snake_case."""
    return name.replace("_", "").replace("-", "").casefold()
