"""What a person sees: a story, on a terminal with a live table, in a pipe as dated lines.

Texts that came from agents or people are escaped; nothing but this module prints.
"""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from datetime import UTC, datetime
from typing import Literal, Protocol

from rich.console import Console
from rich.live import Live
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from bridge.demo.pending_table import Rows, as_lines, as_table
from bridge.observe.logs import escape

Tone = Literal["plain", "good", "bad", "quiet", "person", "command"]

_STYLES: dict[Tone, str] = {
    "plain": "",
    "good": "green",
    "bad": "red",
    "quiet": "dim",
    "person": "cyan",
    "command": "bold magenta",
}
_MARKS: dict[Tone, str] = {
    "plain": " ",
    "good": "✓",
    "bad": "✗",
    "quiet": "   ",
    "person": "→",
    "command": "»",
}
_FRAME_SECONDS = 0.25
_TOLD_SECONDS = 0.7


class Screen(Protocol):
    """Where the story is shown. `pace`: seconds that a sentence takes to read; 0 in a pipe."""

    pace: float

    def chapter(self, title: str) -> None:
        """A new part of the story."""

    def say(self, text: str, tone: Tone = "plain") -> None:
        """One thing that happened, on one line or several."""

    def board(self) -> None:
        """What is pending now, where it isn't shown all the time."""

    def busy(self, text: str) -> AbstractContextManager[None]:
        """While something takes its time."""

    def live(self, rows: Rows) -> AbstractAsyncContextManager[None]:
        """While open, `rows` is what the board shows."""


class Lines:
    """A log that a pipe can keep: no control codes, every line dated."""

    pace = 0.0

    def __init__(self) -> None:
        self._rows: Rows | None = None
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace", line_buffering=True)

    def chapter(self, title: str) -> None:
        """As `Screen` says."""
        self._print(f"== {title}")

    def say(self, text: str, tone: Tone = "plain") -> None:
        """As `Screen` says."""
        for line in text.splitlines():
            self._print(f"{_MARKS[tone]} {escape(line)}")

    def board(self) -> None:
        """As `Screen` says."""
        for line in as_lines(self._rows, datetime.now(UTC)) if self._rows else ():
            self._print(f"    {line}")

    @contextmanager
    def busy(self, text: str) -> Iterator[None]:
        """As `Screen` says."""
        self.say(text, "quiet")
        yield

    @asynccontextmanager
    async def live(self, rows: Rows) -> AsyncIterator[None]:
        """As `Screen` says."""
        self._rows = rows
        try:
            yield
        finally:
            self._rows = None

    def _print(self, line: str) -> None:
        print(f"{datetime.now().astimezone():%H:%M:%S.%f}"[:-3], f" {line}".rstrip())


class Terminal:
    """Colours, a spinner, and a table at the bottom that follows the clock."""

    pace = _TOLD_SECONDS

    def __init__(self, console: Console, *, table: bool) -> None:
        """`table`: keep it at the bottom; without, `board` prints it, so that one can type."""
        self._console = console
        self._table = table
        self._rows: Rows | None = None

    def chapter(self, title: str) -> None:
        """As `Screen` says."""
        self._console.print(Rule(Text(title, "bold"), align="left", style="blue"))

    def say(self, text: str, tone: Tone = "plain") -> None:
        """As `Screen` says."""
        for line in text.splitlines():
            text = line.lstrip()
            grid = Table.grid(padding=(0, 1))
            # What is too long goes on below where it began, not at the edge.
            grid.add_column(no_wrap=True)
            grid.add_column(overflow="fold")
            mark = _MARKS[tone] + " " * (len(line) - len(text))
            grid.add_row(Text(mark, _STYLES[tone]), Text(escape(text), _STYLES[tone]))
            self._console.print(grid)

    def board(self) -> None:
        """As `Screen` says."""
        if self._rows is not None and not self._table:
            self._console.print(self._drawn(self._rows))

    @contextmanager
    def busy(self, text: str) -> Iterator[None]:
        """As `Screen` says."""
        with self._console.status(escape(text)):
            yield

    @asynccontextmanager
    async def live(self, rows: Rows) -> AsyncIterator[None]:
        """As `Screen` says."""
        self._rows = rows
        drawing = asyncio.create_task(self._draw(rows)) if self._table else None
        try:
            yield
        finally:
            self._rows = None
            if drawing is not None:
                drawing.cancel()
                await asyncio.gather(drawing, return_exceptions=True)

    async def _draw(self, rows: Rows) -> None:
        # Drawn by this loop and not by rich's own thread: the rows change under no one's hands.
        with Live(console=self._console, auto_refresh=False, transient=True) as live:
            while True:
                live.update(self._drawn(rows), refresh=True)
                await asyncio.sleep(_FRAME_SECONDS)

    def _drawn(self, rows: Rows) -> Table:
        return as_table(rows(), datetime.now(UTC), self._console.width)


def screen(*, interactive: bool) -> Screen:
    """The screen that fits stdout. A table that moves would disturb somebody who types."""
    console = Console()
    if console.is_terminal and not console.is_dumb_terminal:
        return Terminal(console, table=not interactive)
    return Lines()
