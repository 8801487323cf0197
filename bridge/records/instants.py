"""Instants of the records: RFC 3339 on the wire, UTC, always with milliseconds.

One form only, so that readers may compare the strings. What people send along is read leniently.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, overload

import msgspec

from bridge.core.instants import parse_instant
from bridge.core.model import Millis, Problem

_FIRST: Final = -62_135_596_800_000  # 0001-01-01T00:00:00.000Z
_LAST: Final = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z
_MILLISECOND: Final = timedelta(milliseconds=1)
# As milliseconds such a number would be before March 1973, as seconds it is before the year 5138.
_SECONDS_BELOW: Final = 100_000_000_000
_ZONE_NAME = re.compile(r"\[[\w/+-]{1,64}\]$")  # Java's ZonedDateTime adds one to its offset


class Instant(datetime):
    """An instant in UTC, to the millisecond: a `datetime` that knows its text on the wire.

    >>> Instant.of(datetime(2026, 1, 31, 10, 5, tzinfo=timezone(timedelta(hours=1)))).text
    '2026-01-31T09:05:00.000Z'
    """

    if TYPE_CHECKING:
        # Of `datetime` it takes its own class only; in truth any two can be subtracted.
        @overload  # type: ignore[override]
        def __sub__(self, value: datetime, /) -> timedelta: ...
        @overload
        def __sub__(self, value: timedelta, /) -> Instant: ...
        def __sub__(self, value: datetime | timedelta, /) -> timedelta | Instant: ...

    @classmethod
    def of(cls, moment: datetime) -> Instant:
        """The instant of a `datetime`. Raises ValueError for one that has no time zone."""
        if moment.tzinfo is None:
            raise ValueError("an instant needs a time zone")
        return instant((moment - _EPOCH) // _MILLISECOND)

    @property
    def millis(self) -> Millis:
        """Milliseconds since the epoch."""
        return (self - _EPOCH) // _MILLISECOND

    @cached_property
    def text(self) -> str:
        """`2026-01-31T09:05:00.000Z`. Kept with the instant: one cycle writes it many times."""
        return self.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


_EPOCH = Instant(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=4096)
def instant(millis: Millis) -> Instant:
    """The instant of milliseconds since the epoch; the nearest for what lies beyond all dates.

    A producer may stamp a record with any 64-bit number, and such a record must not stop a slot.
    Cached: all that a cycle decides has one instant, and its records came at few.
    """
    moment = _EPOCH + min(max(millis, _FIRST), _LAST) * _MILLISECOND
    assert isinstance(moment, Instant)  # a datetime's sum is of its own class
    return moment


def optional_instant(millis: Millis | None) -> Instant | None:
    """The same for an instant that may be absent."""
    return None if millis is None else instant(millis)


def rfc3339(millis: Millis) -> str:
    """The text of an instant that is given in milliseconds since the epoch."""
    return instant(millis).text


def instant_or_problem(raw: bytes | msgspec.Raw | None) -> tuple[Millis | None, Problem | None]:
    """When an answer says that it was given: it decides nothing, so it is read as well as can be.

    Milliseconds since the epoch, or what to tell the sender of a value that is left out. Texts are
    read as agents write them, without zone as UTC; numbers as milliseconds or seconds since the
    epoch. Absent, null and an empty text are no instant and no problem.
    """
    value = msgspec.json.decode(raw) if raw else None
    if value is None or value == "":
        return None, None
    found: Millis | None = None
    if isinstance(value, str):
        found = parse_instant(_ZONE_NAME.sub("", value))
    elif isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _LAST + 1:
        found = int(value * 1_000 if value < _SECONDS_BELOW else value)
    if found is None:
        text = "left out: write an instant as 2026-01-31T09:05:00.000Z"
        return None, Problem("/answered_at", text)
    return found, None
