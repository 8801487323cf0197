"""The table in docs/agents.md is that of the cast: whoever joins or leaves has it written anew."""

from __future__ import annotations

import re
from pathlib import Path

from tests.peers.peer import CASES
from tests.peers.roll import everybody
from tests.peers.table import BEGIN, END

PAGE = Path(__file__).parents[3] / "docs" / "agents.md"
TABLE = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
ROWS = [line.strip("| ").split(" | ") for line in TABLE.splitlines() if line.startswith("| ")][2:]


def test_every_peer_has_its_row() -> None:
    """In the order of the cast."""
    titles = [re.sub(r" \[\d+\]$", "", row[0]) for row in ROWS]
    assert titles == [peer.title for peer in everybody()]


def test_only_what_a_peer_cannot_is_left_out() -> None:
    """All else is there, and went well."""
    for row, peer in zip(ROWS, everybody(), strict=True):
        shown = [cell.partition(" ")[0] for cell in row[3:]]
        assert shown == ["–" if case in peer.cannot else "✓" for case in CASES], peer.name
