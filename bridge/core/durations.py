"""Lengths of time as people write them. A bare number is none: the unit is part of the value.

The command line reads them before any settings are read, so nothing is imported for them.
"""

from __future__ import annotations

import re

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_UNITS = {"ms": 1, "s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY}
_PART = re.compile(r"(\d+)(ms|s|m|h|d)")
_LONGEST = 3_650 * DAY  # ten years: beyond that somebody mistook the unit


def parse_duration(value: object) -> int:
    """Milliseconds of "250ms", "2s", "15m", "1h30m", "7d". Raises ValueError that says the form."""
    if not isinstance(value, str):
        raise ValueError('a duration is text with its unit, such as "2s", "15m" or "7d"')
    parts = _PART.findall(value)
    if not parts or "".join(number + unit for number, unit in parts) != value:
        raise ValueError(
            'not a duration: write a whole number and ms, s, m, h or d, such as "15m" or "1h30m"'
        )
    millis = sum(int(number) * _UNITS[unit] for number, unit in parts)
    if millis > _LONGEST:
        raise ValueError("a duration is at most ten years (3650d)")
    return millis


def format_duration(millis: int) -> str:
    """The shortest text that `parse_duration` reads back, in one or more units."""
    rest, text = millis, ""
    for unit in ("d", "h", "m", "s", "ms"):
        count, rest = divmod(rest, _UNITS[unit])
        if count:
            text += f"{count}{unit}"
    return text or "0s"
