"""Kinds of values that settings are made of: durations, names, addresses.

A bare number is never a duration: the unit is part of the value ("15m", "1h30m", "7d").
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_UNITS = {"ms": 1, "s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY}
_PART = re.compile(r"(\d+)(ms|s|m|h|d)")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_LONGEST = 3_650 * DAY  # ten years: beyond that somebody mistook the unit


class Model(BaseModel):
    """A section of the settings: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


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


DURATION = BeforeValidator(parse_duration)
"""By which a field is known to hold one."""

Duration = Annotated[
    int,
    DURATION,
    Field(gt=0),
    PlainSerializer(format_duration, return_type=str),
]
"""Milliseconds, longer than zero; text in files, environment and `config show`."""

Count = Annotated[int, Field(strict=True, gt=0)]
Flag = Annotated[bool, Field(strict=True)]
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9._-]+$")]


def _topic_name(value: str) -> str:
    if not _TOPIC.fullmatch(value) or value in (".", ".."):
        raise ValueError("a topic name is 1 to 249 of A-Z, a-z, 0-9, dot, underscore and hyphen")
    return value


TopicName = Annotated[str, AfterValidator(_topic_name)]
