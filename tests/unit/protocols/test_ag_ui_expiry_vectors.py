"""Our reading of recorded `expiresAt` texts against the reference client's, in two time zones."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bridge.core.instants import parse_instant
from tests.unit.protocols.agui_events import only_interrupted, read, vectors

# Where the bridge reads otherwise than @ag-ui/client 1.0.0 on a host in UTC, and why.
OTHER_THAN_CLIENT = {
    "2026-W39-5": "a week date is ISO 8601; JavaScript has no such form",
    "Sep 25 2026": "free text whose instant depends on the host's zone",
    "2000": "a bare number is no date",
    "2026-09-25T24:00:00Z": "RFC 3339 has no hour 24",
    "-000001-01-01T00:00:00Z": "RFC 3339 has no negative years",
}


def test_expiry_is_read_as_the_client_reads_it_in_utc() -> None:
    """The same instant to the millisecond, but for the named differences."""
    for row in vectors("oracle_expiresAt_ts_1.0.0_TZ_UTC.json")["rows"]:
        text = row["expiresAt"]
        assert (parse_instant(text) == _millis(row)) is (text not in OTHER_THAN_CLIENT), text


def test_a_time_without_zone_is_utc_wherever_the_client_runs() -> None:
    """The client's verdict flips with its host; ours must not."""
    here, there = (
        {
            row["expiresAt"]: row
            for row in vectors(f"oracle_expiresAt_ts_1.0.0_TZ_{zone}.json")["rows"]
        }
        for zone in ("UTC", "America_New_York")
    )
    text = "2026-09-25T12:00:00"
    assert here[text]["parsed"] != there[text]["parsed"]
    assert parse_instant(text) == _millis(here[text])


def test_the_text_of_an_expiry_is_kept_as_it_came() -> None:
    """Whatever it says, the question carries it for people to read."""
    texts = [row["expiresAt"] for row in vectors("oracle_expiresAt_ts_1.0.0_TZ_UTC.json")["rows"]]
    interrupts = [{"id": str(n), "reason": "x", "expiresAt": text} for n, text in enumerate(texts)]
    event = {
        "type": "RUN_FINISHED",
        "threadId": "t-1",
        "runId": "r-1",
        "outcome": {"type": "interrupt", "interrupts": interrupts},
    }
    assert [q.expires_at_raw for q in only_interrupted(read(event)).questions] == texts


def _millis(row: dict[str, Any]) -> int | str | None:
    """The client's instant; its own text where Python has no such date."""
    parsed = row["parsed"]
    if parsed is None or parsed.startswith("-"):
        return None if parsed is None else str(parsed)
    return round(datetime.fromisoformat(parsed).timestamp() * 1_000)
