"""Our reading of recorded `expiresAt` texts against the reference client's, in two time zones."""

from __future__ import annotations

from datetime import datetime

import pytest

from bridge.core.instants import parse_instant
from tests import vectors
from tests.unit.protocols.agui_events import interrupted, only_interrupted, read

# Where the bridge reads otherwise than @ag-ui/client 1.0.0 on a host in UTC, and why.
OTHER_THAN_CLIENT = {
    "2026-W39-5": "a week date is ISO 8601; JavaScript has no such form",
    "20261224T180000Z": "the basic form of ISO 8601; JavaScript has no such form",
    "2026-W52-4": "a week date is ISO 8601; JavaScript has no such form",
    "Sep 25 2026": "free text whose instant depends on the host's zone",
    "Dec 24 2026": "free text whose instant depends on the host's zone",
    "0": "a bare number is no date",
    "2000": "a bare number is no date",
    "2026-09-25T24:00:00Z": "RFC 3339 has no hour 24",
    "2026-12-24T24:00:00Z": "RFC 3339 has no hour 24",
    "2026-02-30T00:00:00Z": "there is no such day; JavaScript counts on into March",
    "-000001-01-01T00:00:00Z": "RFC 3339 has no negative years",
}


def by_client(zone: str) -> dict[str, str | None]:
    """The instant that the client takes each text for, on a host in that zone; None: never."""
    found = vectors.verdicts("ag_ui", "ag-ui-client")["expiries"]
    rows = {row["text"]: row["instant"] for row in found[zone]}
    host = {"utc": "UTC", "new_york": "America_New_York"}[zone]
    more = vectors.collected_json(f"agui/oracle_expiresAt_ts_1.0.0_TZ_{host}.json")
    return rows | {row["expiresAt"]: row["parsed"] for row in (more and more["rows"])}


@pytest.mark.parametrize(("text", "instant"), by_client("utc").items())
def test_expiry_is_read_as_the_client_reads_it_in_utc(text: str, instant: str | None) -> None:
    """The same instant to the millisecond, but for the named differences."""
    assert (parse_instant(text) == _millis(instant)) is (text not in OTHER_THAN_CLIENT)


def test_a_time_without_zone_is_utc_wherever_the_client_runs() -> None:
    """The client's verdict flips with its host; ours must not."""
    here, there = by_client("utc"), by_client("new_york")
    text = "2026-12-24T18:00:00"
    assert here[text] != there[text]
    assert parse_instant(text) == _millis(here[text])


def test_the_text_of_an_expiry_is_kept_as_it_came() -> None:
    """Whatever it says, the question carries it for people to read."""
    texts = list(by_client("utc"))
    asked = [{"id": str(n), "reason": "x", "expiresAt": text} for n, text in enumerate(texts)]
    event = interrupted(*asked)
    assert [q.expires_at_raw for q in only_interrupted(read(event)).questions] == texts


def _millis(instant: str | None) -> int | str | None:
    """Its milliseconds; its own text where Python has no such date."""
    if instant is None or instant.startswith("-"):
        return instant
    return round(datetime.fromisoformat(instant).timestamp() * 1_000)
