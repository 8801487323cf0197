"""Instants on the wire: RFC 3339, UTC, always with milliseconds.

One form only, so that readers may compare the strings; parsing other people's dates is not here.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from bridge.core.model import Millis

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = -62_135_596_800  # 0001-01-01T00:00:00Z, in seconds
_LAST = 253_402_300_799  # 9999-12-31T23:59:59Z
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


def millis(moment: datetime) -> Millis:
    """Milliseconds since the epoch of an aware datetime; finer digits are cut off."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)
