"""`python -m tests.peers [NAME …] [--write] [--record]`: run the bridge with real agents.

Ends with 0; 1 where a case failed or the table in docs/agents.md says something else; 2 where it
was called wrongly, or something is missing or cannot be built.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bridge.errors import BridgeError
from tests.peers import sets, table
from tests.peers.cast.absent import ABSENT
from tests.peers.peer import Peer
from tests.peers.program import Trouble
from tests.peers.record import recording, verdicts
from tests.peers.report import Report
from tests.peers.roll import called
from tests.peers.row import Row
from tests.peers.run import AT_ONCE, run

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
FAILED, UNUSABLE = 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code."""
    given = _parser().parse_args(arguments)
    try:
        peers = called(given.names)
        report = Report(Console(highlight=False))
        _build(peers, report)
        started = time.monotonic()
        rows = run(peers, report.tell, given.at_once)
        if given.record:
            _record(rows)
        if given.record and not given.names:
            asyncio.run(_record_verdicts())
    except (ValueError, sets.SetError, BridgeError, Trouble) as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    report.ends(rows, time.monotonic() - started)
    whole = not given.names
    same = _table(rows, write=given.write) if whole else True
    return 0 if same and all(row.ok for row in rows) else FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.peers", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these; no table then")
    parser.add_argument("--write", action="store_true", help="write the page's table anew")
    parser.add_argument("--record", action="store_true", help="write tests/vectors anew")
    parser.add_argument("--at-once", type=int, default=AT_ONCE, metavar="N", help="peers at a time")
    return parser


def _build(peers: Sequence[Peer], report: Report) -> None:
    """The sets these peers run in. Raises SetError with all that is missing at once."""
    names = sorted({peer.set for peer in peers})
    missing = sets.missing_tools(names)
    if missing:
        raise sets.SetError("\n".join(missing))
    for name in names:
        started = time.monotonic()
        if sets.stale(name):
            report.begins(f"Building the set {name} into .peers/{name}")
            sets.build(name)
            report.begins(f"Built in {time.monotonic() - started:.0f} s")


def _record(rows: Sequence[Row]) -> None:
    """Write down what the peers said; one that failed keeps what it said before."""
    for row in rows:
        if row.ok:
            recording.write(row.peer, row.versions, row.said)


async def _record_verdicts() -> None:
    """Of all reference implementations. Raises Trouble."""
    with tempfile.TemporaryDirectory(prefix="bridge-verdicts-") as folder:
        for reference in verdicts.REFERENCES:
            await verdicts.record(reference, Path(folder))


def _table(rows: Sequence[Row], *, write: bool) -> bool:
    """Write the table, or say where the page has another one; whether it is the same."""
    page = PAGE.read_text("utf-8")
    wanted = table.put(page, table.draw(rows, ABSENT))
    if write:
        PAGE.write_text(wanted, "utf-8")
        return True
    found = table.difference(page, wanted)
    if found:
        print(f"{found}\nThe table in docs/agents.md says something else than this run.")
        print("If the run is right: make peers ARGS=--write")
    return not found


if __name__ == "__main__":
    sys.exit(main())
