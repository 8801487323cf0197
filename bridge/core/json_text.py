"""JSON as text: strict reading, and digests of JSON values.

The bridge passes free JSON on as the slice it arrived in. Here stands what may be read at all
(no NaN, no duplicate keys, no lone surrogates, bounded depth) and when two texts are the same
JSON value. Never re-encode a parsed copy: it would lose 1e2, 50.0 and key order.
"""

from __future__ import annotations

import hashlib
import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

MAX_DEPTH = 64


class JsonError(ValueError):
    """Text that the bridge does not read. `code` is a dead-letter reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def read(text: bytes, max_depth: int = MAX_DEPTH) -> Any:
    """The value of strict JSON text; floats as `Decimal`, so that no digit is lost.

    Raises JsonError with code `empty`, `not_json`, `json_rules` or `too_deep`.
    """
    if not text.strip():
        raise JsonError("empty", "the value is empty")
    if _too_deep(text, max_depth):
        raise JsonError("too_deep", f"nested deeper than {max_depth} levels")
    try:
        value = _STRICT.decode(text.decode())
        if b"\\u" in text:
            # The standard decoder lets a lone surrogate through; only an escape can hold one.
            msgspec.json.decode(text)
    except _RuleBroken as error:
        raise JsonError("json_rules", str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise _classified(text, error) from None
    return value


def value(text: bytes) -> Any:
    """The value of text that `read` has let in before; no rule is looked at again."""
    return _TRUSTED.decode(text.decode())


def digest(value: Any) -> bytes:
    """16 bytes that are equal for equal JSON values (50 == 50.0, key order does not count)."""
    return hashlib.sha256(canonical(value).encode()).digest()[:16]


def canonical(value: Any) -> str:
    """One text per JSON value, for comparison only. Takes what `read` returns."""
    return json.dumps(_comparable(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


class _RuleBroken(ValueError):
    """JSON that parses but breaks a rule of the bridge."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RuleBroken("an object has the same key twice")
    return members


def _no_constant(name: str) -> Any:
    raise _RuleBroken(f"{name} is not a JSON number")


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise _RuleBroken("a number's exponent is out of range") from None


_STRICT = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_decimal
)
_TRUSTED = json.JSONDecoder(parse_float=Decimal)

_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def _too_deep(text: bytes, max_depth: int) -> bool:
    """Whether brackets nest deeper than allowed; looked at closely only when they are many."""
    if text.count(b"[") + text.count(b"{") <= max_depth:
        return False
    depth = 0
    for bracket in re.finditer(rb"[\[\]{}]", _STRINGS.sub(b"", text)):
        depth += 1 if bracket[0] in b"[{" else -1
        if depth > max_depth:
            return True
    return False


def _classified(text: bytes, error: Exception) -> JsonError:
    if "surrogate" in str(error) or "utf-16" in str(error) or "hex escape" in str(error):
        return JsonError("json_rules", "a string holds a lone surrogate")
    return JsonError("not_json", "the value is not JSON text")


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _comparable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return value
    # A list marks a number apart from a string of the same text; no JSON value maps to this form.
    return {"#": _number(value)}


def _number(value: int | Decimal) -> str:
    """Equal text for equal numbers: sign, digits without trailing zeros, exponent."""
    sign, digits, exponent = Decimal(value).as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    trimmed = text.rstrip("0")
    if not trimmed:
        return "0"
    return f"{'-' if sign else ''}{trimmed}e{int(exponent) + len(text) - len(trimmed)}"
