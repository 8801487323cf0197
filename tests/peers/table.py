"""The table of agents that the bridge was run with: drawn from a run, put, compared."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Final

from tests.peers.cast.absent import Absent
from tests.peers.peer import CASES, Protocol
from tests.peers.row import Row

BEGIN: Final = "<!-- peers -->"
END: Final = "<!-- /peers -->"
_BETWEEN = re.compile(f"{BEGIN}\n.*?{END}", re.S)
_SPOKEN: dict[Protocol, str] = {"ag-ui": "AG-UI", "a2a": "A2A", "genkit": "Genkit"}
_MARKS = {"ok": "✓", "failed": "✗", "cannot": "–"}


def draw(rows: Sequence[Row], absent: Sequence[Absent]) -> str:
    """The table as Markdown, with footnotes and those that could not be run."""
    notes = _Notes()
    head = ["agent", "versions", "protocol", *CASES]
    lines = [_line(head), _line(["---"] * len(head))]
    lines += [_line(_cells(row, notes)) for row in rows]
    lines += ["", *notes.lines()] if notes.texts else []
    lines += ["", *(_absent(each) for each in absent)] if absent else []
    return "\n".join(lines) + "\n"


def put(page: str, table: str) -> str:
    """The page with the table between its markers. Raises ValueError where they are missing."""
    if not _BETWEEN.search(page):
        raise ValueError(f"no {BEGIN} … {END} in the page")
    return _BETWEEN.sub(lambda _: f"{BEGIN}\n{table}{END}", page)


def difference(page: str, wanted: str) -> str:
    """What putting would change, as a diff; empty where it changes nothing."""
    lines = difflib.unified_diff(
        page.splitlines(), wanted.splitlines(), "docs/agents.md", "this run", n=0, lineterm=""
    )
    return "\n".join(lines)


class _Notes:
    """Footnotes in the order in which they are called for; equal ones share a number."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def mark(self, text: str) -> str:
        if text not in self.texts:
            self.texts.append(text)
        return f" [{self.texts.index(text) + 1}]"

    def lines(self) -> Iterator[str]:
        for number, text in enumerate(self.texts, 1):
            yield f"{number}. {text[:1].upper()}{text[1:].rstrip('.')}."


def _cells(row: Row, notes: _Notes) -> Iterator[str]:
    peer = row.peer
    yield peer.title + (notes.mark(peer.note) if peer.note else "")
    yield ", ".join(f"{name} {version}" for name, version in row.versions.items())
    yield _SPOKEN[peer.protocol]
    for case in CASES:
        reason = peer.cannot.get(case)
        yield _MARKS[row.outcomes[case].came] + (notes.mark(reason) if reason else "")


def _line(cells: Iterator[str] | list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _absent(absent: Absent) -> str:
    return f"- Not run: {absent.title}. {absent.reason} {absent.instead}"
