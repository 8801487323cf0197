"""Which texts are instants, and which."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.core.instants import parse_instant

NOON = 1_790_337_600_000  # 2026-09-25T12:00:00Z
MIDNIGHT = NOON - 12 * 3_600_000


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-09-25T12:00:00Z", NOON),
        ("2026-09-25t12:00:00z", NOON),
        ("2026-09-25 12:00:00+00:00", NOON),
        ("2026-09-25T14:00:00+02:00", NOON),
        ("2026-09-25T05:00:00-0700", NOON),
        ("2026-09-25T14:00:00+02", NOON),
        ("2026-09-25T12:00:00", NOON),  # no zone is UTC, whatever the host's
        ("2026-09-25T12:00", NOON),
        ("2026-09-25T12:00:00.123456789Z", NOON + 123),
        ("2026-09-25T12:00:00.9999999+00:00", NOON + 999),
        ("2026-09-25T12:00:00,5Z", NOON + 500),
        ("20260925T120000Z", NOON),
        ("20260925T1200", NOON),
        ("2026-W39-5T12:00:00Z", NOON),
        ("2026W395", MIDNIGHT),
        ("2026-09-25", MIDNIGHT),
        ("20260925", MIDNIGHT),
        ("Fri, 25 Sep 2026 12:00:00 GMT", NOON),
        ("Fri, 25 Sep 2026 14:00:00 +0200", NOON),
        ("2026-12-31T23:59:60Z", 1_798_761_600_000),
        ("0001-01-01T00:00:00+23:59", -62_135_683_140_000),
        ("9999-12-31T23:59:59Z", 253_402_300_799_000),
    ],
)
def test_what_is_read(text: str, instant: int) -> None:
    """RFC 3339, its ISO relatives, a date alone, and the date of RFC 1123."""
    assert parse_instant(text) == instant


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "soon",
            "never",
            "null",
            "+1h",
            "PT1H",
            "2000",
            "0",
            "1790337600",
            "1790337600000",
        ),
        *("Sep 25 2026", "2026-268", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z"),
        *("2026-09-25T24:00:00Z", "2026-09-25T12:60:00Z", "2026-09-25T12:00:61Z", "2026-W54-1"),
        *(" 2026-09-25T12:00:00Z", "2026-09-25T12:00:00Z ", "2026-09-25T12:00:00Z\n"),
        *("2026-09-25T12:00:00[Europe/Paris]", "2026-09-25T12:00:00 UTC", "2026-09-25Z"),
        *("-000001-01-01T00:00:00Z", "2026-09-25T12:00:00+25:00", "2026-09-25T12:00.5Z"),
        *("Fri, 32 Sep 2026 12:00:00 GMT", "Fri, 25 Xxx 2026 12:00:00 GMT", "٢٠٢٦-09-25"),
    ],
)
def test_what_is_no_instant(text: str) -> None:
    """Never a guess, and never an exception."""
    assert parse_instant(text) is None


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_python_writes_is_read_back(moment: datetime) -> None:
    """To the millisecond, cut and not rounded."""
    expected = (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
    found = parse_instant(moment.isoformat())
    assert found is not None
    assert abs(found / 1_000 - expected) <= 0.002


@given(st.text(max_size=40))
def test_no_text_is_an_error(text: str) -> None:
    """Agents write anything."""
    found = parse_instant(text)
    assert found is None or isinstance(found, int)
