"""What is measured of the code itself, for docs/figures.md.

`python -m tests.figures` prints the table; with `--write` it puts it into the page. It counts and
runs the engine for one answer; it starts nothing and takes no time of anything.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

from bridge.core import ids
from bridge.slot.engine import Engine
from tests import house
from tests.unit.slot.desk import NOW, answer, desk, event

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "figures.md"
MARKS: Final = ("<!-- figures -->", "<!-- /figures -->")
_SUITES: Final = ("unit", "contract", "integration", "chaos")


class Figure(NamedTuple):
    """One row: what, how much it is now, and how much it should be."""

    what: str
    now: str
    goal: str


def figures() -> Iterator[Figure]:
    """All of them, in the order of the page."""
    yield Figure("the cycle loop, written", f"in {', '.join(f'`{at}`' for at in loops())}", "once")
    shares = house.shares()
    once, all_ = (sum(column) for column in zip(*shares.values(), strict=True))
    over = [f"{room} {n / of:.0%}" for room, (n, of) in sorted(shares.items()) if n / of > 0.2]
    yield Figure(
        "private helpers named once in their file",
        f"{once} of {all_}: {once / all_:.0%}" + (f"; {', '.join(over)}" if over else ""),
        "at most 20 % in each room",
    )
    warm, cold = ids_made(cold=False), ids_made(cold=True)
    yield Figure("ids made for one answer", f"{warm}; {cold} right after a restore", "at most 3")
    code = _lines(ROOT / "bridge") - _lines(ROOT / "bridge" / "demo")
    checked = code - _lines(ROOT / "bridge" / "audit")
    tests = sum(_lines(ROOT / "tests" / suite) for suite in _SUITES)
    yield Figure(
        f"lines of tests ({', '.join(_SUITES)}) for a line of `bridge` without `demo`",
        f"{tests:,} : {code:,} = {tests / code:.2f}; without `audit` too {tests / checked:.2f}",
        "at least 1.5",
    )
    yield Figure("tests that the suite finds", _collected(), "all run in a fresh clone")


def loops() -> list[str]:
    """The files that run cycles themselves: whoever does so imports the cycle."""
    return [
        str(path.relative_to(ROOT))
        for path in sorted([*(ROOT / "bridge").rglob("*.py"), *(ROOT / "tests").rglob("*.py")])
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "bridge.slot.cycle"
    ]


def ids_made(*, cold: bool) -> int:
    """How often an id is worked out while one answer of a run with one question is judged.

    `cold`: as in a worker that has just read its state, and has not seen the question.
    """
    made = 0
    counted: CodeType = ids.RunKey.make.__code__

    def count(frame: FrameType, what: str, _: Any) -> None:
        nonlocal made
        made += what == "call" and frame.f_code is counted

    slot = Engine(desk())
    slot.committed(slot.work([event()], now=NOW), NOW)
    for each in vars(ids).values() if cold else ():
        if hasattr(each, "cache_clear"):
            each.cache_clear()
    sys.setprofile(count)
    try:
        slot.work([answer()], now=NOW)
    finally:
        sys.setprofile(None)
    return made


def draw() -> str:
    """The table as Markdown."""
    rows = [f"| {row.what} | {row.now} | {row.goal} |" for row in figures()]
    return "\n".join(["| what | now | goal |", "|---|---|---|", *rows]) + "\n"


def _lines(folder: Path) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in folder.rglob("*.py"))


def _collected() -> str:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.strip().splitlines()[-1].partition(" in ")[0].strip("= ")


def main(arguments: list[str]) -> None:
    """Print the table, or write it."""
    table = draw()
    print(table, end="")
    if "--write" in arguments:
        begin, end = MARKS
        page = PAGE.read_text("utf-8")
        head, _, rest = page.partition(begin)
        PAGE.write_text(f"{head}{begin}\n{table}{end}{rest.partition(end)[2]}", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
