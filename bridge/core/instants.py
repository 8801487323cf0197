"""Instants as agents write them: RFC 3339 and its ISO relatives, and the date of RFC 1123.

A missing zone is UTC, never the zone of the host, so that two workers agree. What cannot be
read exactly is no instant: a guess could abandon a question that still waits.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from bridge.core.model import Millis

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

# Date alone, or date and time with seconds; extended and basic form, ordinal dates left out.
# ASCII digits only, and the fraction without bound: what follows the milliseconds is cut.
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d|\d{4}-W\d\d-[1-7]|\d{8}|\d{4}W\d\d[1-7])"
    r"(?:[Tt ](\d\d:\d\d(?::\d\d)?|\d{4}(?:\d\d)?)(?:[.,](\d{1,20}))?"
    r"([Zz]|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
_RFC_1123 = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d (?:GMT|[+-]\d{4})",
    re.ASCII,
)


# Producers stamp records with 0, -1, the year 1, seconds or microseconds. Milliseconds between the
# two bounds can be none of these.
_FIRST_USABLE = 946_684_800_000  # 2000-01-01
_LAST_USABLE = 4_102_444_800_000  # 2100-01-01


def is_usable(at: Millis) -> bool:
    """Whether an instant can be one of an agent at work."""
    return _FIRST_USABLE <= at < _LAST_USABLE


def usable_instant(text: str | None) -> Millis | None:
    """The instant of a text; None for none, and for one that no agent at work can mean."""
    at = None if text is None else parse_instant(text)
    return at if at is not None and is_usable(at) else None


def unusable(at: Millis) -> str:
    """What is wrong with a timestamp, for who has to mend it."""
    if is_usable(at * 1_000):
        return f"the record's timestamp {at} is in seconds, and Kafka's are in milliseconds"
    return f"the record's timestamp {at} is no instant from 2000 to 2099 in milliseconds"


def parse_instant(text: str) -> Millis | None:
    """Milliseconds since the epoch (fractions cut to them), or None for what is no instant."""
    match = _ISO.fullmatch(text)
    try:
        if match is not None:
            return _iso(*match.groups())
        if _RFC_1123.fullmatch(text):
            return (parsedate_to_datetime(text) - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):
        return None  # well-formed but no such day, hour or zone
    return None


def _iso(day: str, time: str | None, fraction: str | None, zone: str | None) -> Millis | None:
    if time is None:
        return (datetime.fromisoformat(day).replace(tzinfo=UTC) - _EPOCH) // _MILLISECOND
    if fraction is not None and len(time.replace(":", "")) < 6:
        return None  # a fraction of a minute: ISO 8601 has it, agents do not
    offset = "+00:00" if zone is None or zone in "Zz" else zone
    # A leap second is read as the instant that follows it.
    leap = time.replace(":", "").endswith("5960")
    text = f"{day}T{time[:-2] + '59' if leap else time}{offset}"
    whole = (datetime.fromisoformat(text) - _EPOCH) // _MILLISECOND
    return whole + (1_000 if leap else int(f"{fraction or ''}000"[:3]))
