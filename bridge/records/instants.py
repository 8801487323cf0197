"""Instants on the wire: RFC 3339, UTC, always with milliseconds.

One form only, so that readers may compare the strings. What people send along is read leniently.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

import msgspec

from bridge.core.instants import parse_instant
from bridge.core.model import Millis, Problem

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = -62_135_596_800  # 0001-01-01T00:00:00Z, in seconds
_LAST = 253_402_300_799  # 9999-12-31T23:59:59Z
_END: Final = 253_402_300_800_000  # the year 10000, in milliseconds
# As milliseconds such a number would be before March 1973, as seconds it is before the year 5138.
_SECONDS_BELOW: Final = 100_000_000_000
_ZONE_NAME = re.compile(r"\[[\w/+-]{1,64}\]$")  # Java's ZonedDateTime adds one to its offset
_THOUSANDTHS = tuple(f".{thousandth:03d}Z" for thousandth in range(1000))


def rfc3339(instant: Millis) -> str:
    """`2026-01-31T09:05:00.000Z`; an instant outside the years 1 to 9999 is shown as the nearest.

    A producer may stamp a record with any 64-bit number, and such a record must not stop a slot.
    """
    seconds, thousandths = divmod(instant, 1000)
    if _FIRST <= seconds <= _LAST:
        return _whole_second(seconds) + _THOUSANDTHS[thousandths]
    return "0001-01-01T00:00:00.000Z" if seconds < _FIRST else "9999-12-31T23:59:59.999Z"


def optional_rfc3339(instant: Millis | None) -> str | None:
    """The same for an instant that may be absent."""
    return None if instant is None else rfc3339(instant)


@lru_cache(maxsize=4096)
def _whole_second(seconds: int) -> str:
    """Cached: the instants of one cycle fall on few seconds."""
    return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")


def instant_or_problem(raw: msgspec.Raw, pointer: str) -> tuple[Millis | None, Problem | None]:
    """An instant that people send along and that decides nothing: read as well as can be.

    Milliseconds since the epoch, or what to tell the sender of a value that is left out. Texts are
    read as agents write them, without zone as UTC; numbers as milliseconds or seconds since the
    epoch. Absent, null and an empty text are no instant and no problem.
    """
    value = msgspec.json.decode(raw) if bytes(raw) else None
    if value is None or value == "":
        return None, None
    instant: Millis | None = None
    if isinstance(value, str):
        instant = parse_instant(_ZONE_NAME.sub("", value))
    elif isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _END:
        instant = int(value * 1_000 if value < _SECONDS_BELOW else value)
    if instant is None:
        return None, Problem(pointer, "left out: write an instant as 2026-01-31T09:05:00.000Z")
    return instant, None
