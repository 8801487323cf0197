"""What the run says while it goes, and at its end: a line a case, and every problem in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console

from tests.peers.peer import Peer
from tests.peers.row import Outcome, Row

_STYLES = {"ok": "green", "failed": "bold red", "cannot": "yellow"}


class Report:
    """Plain lines where nobody looks on, colour on a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def begins(self, what: str) -> None:
        """A step that takes a while."""
        self._console.print(f"{what} …", highlight=False, markup=False)

    def tell(self, peer: Peer, case: str, outcome: Outcome) -> None:
        """A case was judged."""
        mark = f"[{_STYLES[outcome.came]}]{outcome.came:<6}[/]"
        took = f"{outcome.seconds:5.1f} s" if outcome.seconds else ""
        self._console.print(f"{mark} {peer.name:<24} {case:<18} {took}", highlight=False)
        if outcome.came == "failed":
            self._console.print(_told(outcome), highlight=False, markup=False, soft_wrap=True)

    def ends(self, rows: Sequence[Row], seconds: float) -> None:
        """How many of each, and which peers failed."""
        came = [outcome.came for row in rows for outcome in row.outcomes.values()]
        counts = ", ".join(f"{came.count(each)} {each}" for each in _STYLES if each in came)
        self._console.print(f"{len(rows)} peers, {counts}; {seconds:.0f} s", highlight=False)
        for name in _failed(rows):
            self._console.print(f"failed: {name}", highlight=False, markup=False)


def _told(outcome: Outcome) -> str:
    tail = f"\n  the end of its stderr:\n{outcome.tail}" if outcome.tail else ""
    return "\n".join(f"  {problem}" for problem in outcome.problems) + tail


def _failed(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        cases = [case for case, outcome in row.outcomes.items() if outcome.came == "failed"]
        if cases:
            yield f"{row.peer.name} ({', '.join(cases)})"
