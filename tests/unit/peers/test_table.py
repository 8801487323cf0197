"""The table of agents: drawn from a run, put between its markers, compared with the page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.peers.cast.absent import Absent
from tests.peers.peer import CASES, NO_SCHEMA, WRONG_THEN_RIGHT, Peer
from tests.peers.row import Outcome, Row
from tests.peers.table import difference, draw, put

PEER = Peer(
    name="one",
    title="One (one-sdk)",
    protocol="a2a",
    set="current",
    program="one.py",
    answer="yes",
    proof="done",
    wrong={},
)
MUTE = replace(
    PEER, name="two", title="Two", wrong=NO_SCHEMA, cannot={WRONG_THEN_RIGHT: "it has no schema"}
)
PAGE = "before\n\n<!-- peers -->\nold\n<!-- /peers -->\n\nafter\n"


def row(peer: Peer, failed: str | None = None) -> Row:
    outcomes = {case: Outcome("failed" if case == failed else "ok") for case in CASES}
    outcomes |= {case: Outcome("cannot") for case in peer.cannot}
    return Row(peer, {"one-sdk": "1.2", "core": "0.9"}, outcomes)


def test_a_row_has_versions_protocol_and_cases() -> None:
    """The versions as the program reported them, in its order."""
    assert draw([row(PEER)], []).splitlines() == [
        "| agent | versions | protocol | " + " | ".join(CASES) + " |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        "| One (one-sdk) | one-sdk 1.2, core 0.9 | A2A | ✓ | ✓ | ✓ | ✓ | ✓ |",
    ]


def test_a_failure_is_shown() -> None:
    """A table that is written hides none."""
    assert draw([row(PEER, "one expired")], []).splitlines()[2].endswith("| ✓ | ✓ | ✗ | ✓ | ✓ |")


def test_what_a_peer_cannot_has_its_reason_below() -> None:
    """Once, for all peers that share it; a note stands at the title."""
    noted = replace(MUTE, name="three", note="it was patched")
    lines = draw([row(MUTE), row(noted)], []).splitlines()
    assert lines[2].endswith("| – [1] | ✓ |")
    assert lines[3].startswith("| Two [2] |")
    assert lines[3].endswith("| – [1] | ✓ |")
    assert lines[5:] == ["1. It has no schema.", "2. It was patched."]


def test_who_was_not_run_stands_below() -> None:
    """With the reason, and what was done instead."""
    absent = Absent("Three", "It needs a licence.", "Its recorded events are read in tests.")
    assert draw([row(PEER)], [absent]).splitlines()[-1] == (
        "- Not run: Three. It needs a licence. Its recorded events are read in tests."
    )


def test_the_table_goes_between_its_markers() -> None:
    """And nothing else changes."""
    assert put(PAGE, "new\n") == PAGE.replace("old", "new")


def test_a_page_without_markers_is_refused() -> None:
    """Rather than left as it is."""
    with pytest.raises(ValueError, match="no <!-- peers -->"):
        put("nothing here", "new\n")


def test_a_difference_is_shown_as_a_diff() -> None:
    """Nothing where the page says what the run says."""
    wanted = put(PAGE, "new\n")
    assert difference(wanted, put(wanted, "new\n")) == ""
    assert "-old" in difference(PAGE, wanted).splitlines()
    assert "+new" in difference(PAGE, wanted).splitlines()
