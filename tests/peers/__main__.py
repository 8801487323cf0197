"""`python -m tests.peers [NAME …] [--write] [--record]`: run the bridge with real agents.

Ends with 0; 1 where a case failed or the table in docs/agents.md says something else; 2 where it
was called wrongly, or something is missing or cannot be built.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bridge.errors import BridgeError
from tests.peers import sets, table
from tests.peers.cast.absent import ABSENT
from tests.peers.peer import Peer
from tests.peers.program import Trouble
from tests.peers.record import recording
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
    except (ValueError, sets.SetError, BridgeError, Trouble) as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    report.ends(rows, time.monotonic() - started)
    if given.record:
        _record(rows)
    whole = not given.names
    same = _table(rows, write=given.write) if whole else True
    return 0 if same and all(row.ok for row in rows) else FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.peers", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these; no table then")
    parser.add_argument("--record", action="store_true", help="write tests/vectors anew")
