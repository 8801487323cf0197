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
from itertools import accumulate
from typing import Any

import msgspec

from bridge.core.model import Digest

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
    value = _at_once(text)
    if value is not _UNSURE:
        return value
    # Looked at member by member, which shows what is wrong with it.
    try:
        trimmed = text.decode().strip(" \t\r\n")
        value, end = _STRICT.raw_decode(trimmed)
    except _RuleBroken as error:
        raise JsonError("json_rules", str(error)) from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise JsonError("not_json", "the value is not JSON text") from None
    except ValueError:
        # What is left is int() itself, which refuses more than 4,300 digits.
        raise JsonError("json_rules", "a number has too many digits") from None
    if end != len(trimmed):
        raise JsonError("not_json", "the value is not JSON text")
    if b"\\u" in text and _SURROGATE_ESCAPE.search(text) and _has_lone_surrogate(value):
        raise JsonError("json_rules", "a string holds a lone surrogate")
    return value


def value(text: bytes) -> Any:
    """The value of text that `read` has let in before; no rule is looked at again."""
    return _TRUSTED.decode(text)


def exact(text: bytes) -> Any:
    """The same with plain decimals, as a schema validator knows them."""
    return _EXACT.decode(text)


def digest(value: Any) -> Digest:
    """16 bytes that are equal for equal JSON values (50 == 50.0, key order does not count)."""
    return Digest(hashlib.sha256(canonical(value)).digest()[:16])


def canonical(value: Any) -> bytes:
    """One text per JSON value, for comparison only. Takes what `read` or `value` returns."""
    try:
        return _PLAIN.encode(value)
    except _NumberMet:
        return msgspec.json.Encoder(enc_hook=_Numbers(), order="sorted").encode(value)


# --- Reading -------------------------------------------------------------------------------------


class _RuleBroken(ValueError):
    """JSON that parses but breaks a rule of the bridge."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RuleBroken("an object has the same key twice")
    return members


def _no_constant(name: str) -> Any:
    raise _RuleBroken(f"{name} is not a JSON number")


class Number(Decimal):
    """A number with a fraction or exponent; its own class, so that the encoder calls its hook."""


def _number(text: str) -> Number:
    try:
        return Number(text)
    except InvalidOperation:
        raise _RuleBroken("a number's exponent is out of range") from None


_STRICT = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_number
)
_TRUSTED = msgspec.json.Decoder(float_hook=Number)
_EXACT = msgspec.json.Decoder(float_hook=Decimal)


_UNSURE: Any = object()


def _at_once(text: bytes) -> Any:
    """The value by the decoder in C, which holds to all rules but that of duplicate keys; _UNSURE
    where it refuses, or where a colon of the text is missing from the value.

    It takes the last of two members with one key, and then writes a colon less than it read. Only
    an escaped colon could make up for that.
    """
    if b"\\u003a" in text or b"\\u003A" in text:
        return _UNSURE
    try:
        value = _TRUSTED.decode(text)
    except (ValueError, ArithmeticError, RecursionError):  # msgspec.DecodeError is a ValueError
        return _UNSURE
    return value if text.count(b":") == _COLONS.encode(value).count(b":") else _UNSURE


_COLONS = msgspec.json.Encoder(enc_hook=lambda _: 0)

_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


def _too_deep(text: bytes, max_depth: int) -> bool:
    """Whether brackets nest deeper than allowed; looked at closely only when they are many."""
    if text.count(b"[") + text.count(b"{") <= max_depth:
        return False
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    outside = b"".join(text.split(b'"')[::2])  # a string that is not closed takes all the rest
    brackets = outside.translate(_SQUARE, _NO_BRACKETS)
    left = brackets
    for _ in range(max_depth):
        left = left.replace(b"[]", b"")  # one level less
        if not left:
            return False
    # Level by level, for brackets that do not close as they should.
    steps = (1 if bracket == ord("[") else -1 for bracket in brackets)
    return max(accumulate(steps), default=0) > max_depth


def _has_lone_surrogate(value: Any) -> bool:
    """Whether any string or key has one: the standard decoder lets them through."""
    if isinstance(value, str):
        return not _is_utf8(value)
    if isinstance(value, dict):
        return any(not _is_utf8(key) or _has_lone_surrogate(item) for key, item in value.items())
    return isinstance(value, list) and any(map(_has_lone_surrogate, value))


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- Comparing -----------------------------------------------------------------------------------


class _NumberMet(ValueError):
    """The value holds a number with a fraction or an exponent."""


def _meet(_: Any) -> Any:
    raise _NumberMet


# Most values have no such number, and then the encoder in C does all.
_PLAIN = msgspec.json.Encoder(enc_hook=_meet, order="sorted")


_INTEGER_DIGITS = 4_300  # as many as int() reads


class _Numbers:
    """Encodes numbers: whole ones as integers, the others as digits and exponent.

    No integer is written with an exponent, so the two never meet.
    """

    def __init__(self) -> None:
        # Equality with an integer written out is exact up to this many digits in one value;
        # beyond, 1e4000 a thousand times would make a few bytes into megabytes.
        self._room = 1_000_000

    def __call__(self, number: Number) -> int | msgspec.Raw:
        sign, digits, exponent = number.as_tuple()
        text = "".join(map(str, digits)).lstrip("0")
        trimmed = text.rstrip("0")
        power = int(exponent) + len(text) - len(trimmed)
        if not trimmed:
            return 0
        size = len(trimmed) + power
        if power < 0 or size > min(_INTEGER_DIGITS, self._room):
            return msgspec.Raw(f"{'-' if sign else ''}{trimmed}e{power}".encode())
        self._room -= size
        return int(("-" if sign else "") + trimmed + "0" * power)
