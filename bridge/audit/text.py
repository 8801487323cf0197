"""JSON read for comparison: numbers keep their literal, objects keep their order.

Written apart from the bridge's own reader, so that a mistake in one shows up against the other.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Unreadable(ValueError):
    """Text the bridge must not take in; the message is the dead-letter reason expected."""


class Number(str):
    """A JSON number as it was written."""

    __slots__ = ()


def read(value: bytes | None, max_depth: int) -> Any:
    """The value with `Number` leaves. Raises Unreadable for what breaks a rule of the bridge."""
    if value is None or not value.strip():
        raise Unreadable("empty")
    if value.count(b"[") + value.count(b"{") > max_depth < depth(value):
        raise Unreadable("too_deep")
    try:
        parsed = json.loads(
            value.decode(),
            object_pairs_hook=_unique,
            parse_int=Number,
            parse_float=Number,
            parse_constant=_refused,
        )
    except (ValueError, RecursionError) as error:
        raise error if isinstance(error, Unreadable) else Unreadable("not_json") from None
    if b"\\u" in value:
        try:
            written(parsed).encode()
        except UnicodeEncodeError:  # a lone surrogate; only an escape can hold one
            raise Unreadable("json_rules") from None
    return parsed


def peek(value: bytes) -> Any:
    """The value by the loosest reading there is; None where even that fails."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def depth(value: bytes) -> int:
    """How deep brackets nest, those inside strings aside."""
    level = deepest = 0
    for bracket in re.finditer(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', value, re.DOTALL):
        if bracket[0] in b"[{":
            level += 1
            deepest = max(deepest, level)
        elif bracket[0] in b"]}":
            level -= 1
    return deepest


def written(value: Any) -> str:
    """The text with literals and key order as they are, white space and escapes normalised."""
    return _text(value, lambda number: number, ordered=False)


def same(left: Any, right: Any) -> bool:
    """Equality as JSON values: 50 is 50.0, key order does not count."""
    return _text(left, _magnitude, ordered=True) == _text(right, _magnitude, ordered=True)


def alike(left: Any, right: Any) -> bool:
    """Equality of what is sent: numbers as they were written, key order free."""
    if isinstance(left, dict) and isinstance(right, dict):
        return set(left) == set(right) and all(alike(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(alike, left, right))
    return written(left) == written(right)


def plain(value: Any) -> Any:
    """The value with Python numbers, for the schema validator."""
    if isinstance(value, Number):
        return int(value) if value.lstrip("-").isdigit() else Decimal(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def integer(value: Any) -> int | None:
    """The value of an integer literal; None for anything else."""
    return int(value) if isinstance(value, Number) and value.lstrip("-").isdigit() else None


def millis(instant: Any) -> int | None:
    """Milliseconds of an RFC 3339 instant as the bridge writes it; None for anything else."""
    if not isinstance(instant, str) or isinstance(instant, Number):
        return None
    try:
        parsed = datetime.fromisoformat(instant)
    except ValueError:
        return None
    aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1000)


def instant(written: str) -> int | None:
    """Milliseconds of an instant as an agent writes it, what is smaller cut off."""
    try:
        parsed = datetime.fromisoformat(written)
    except ValueError:
        return None
    aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(milliseconds=1)


def _refused(_name: str) -> Any:
    raise Unreadable("json_rules")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise Unreadable("json_rules")
    return dict(pairs)


def _text(value: Any, number: Any, *, ordered: bool) -> str:
    if isinstance(value, Number):
        return str(number(value))
    if isinstance(value, dict):
        items = sorted(value.items()) if ordered else value.items()
        members = (f"{_quoted(k)}:{_text(v, number, ordered=ordered)}" for k, v in items)
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_text(item, number, ordered=ordered) for item in value) + "]"
    return _quoted(value)


def _quoted(value: Any) -> str:
    return encode_basestring(value) if isinstance(value, str) else json.dumps(value)


def _magnitude(number: str) -> str:
    sign, digits, exponent = Decimal(number).as_tuple()
    whole = "".join(map(str, digits)).lstrip("0")
    short = whole.rstrip("0")
    power = int(exponent) + len(whole) - len(short)
    return f"{'-' * sign}{short}e{power}" if short else "0"
