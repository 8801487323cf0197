"""The pending questions as a table for a terminal, or as lines for a pipe.

Narrower than the command `pending` shows them: it shares the screen with a story.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich import box
from rich.table import Table
from rich.text import Text

from bridge.console.table import span
from bridge.observe.logs import escape
from bridge.records import Approval

HEADINGS = ("agent", "question", "answered", "waits", "until")

_SOON_SECONDS = 5
_PADDING = 3  # around a column, its share of the frame included
_LEAST_ROOM = 20


@dataclass(frozen=True, slots=True)
class Row:
    """One pending question; `answered` of its run are answered or closed."""

    view: Approval
    answered: int

    def cells(self, now: datetime) -> tuple[str, ...]:
        """A text for each heading."""
        view = self.view
        question = escape(view.message or view.reason or view.interrupt_id)
        waits = span((now - view.published_at).total_seconds())
        done = f"{self.answered} of {view.total}"
        until = "no deadline"
        if view.expires_at is not None:
            left = (view.expires_at - now).total_seconds()
            due = f"in {span(left)}" if left > 0 else "due"
            until = f"{view.expires_at.astimezone():%H:%M:%S}, {due}"
        return (escape(view.source), question, done, waits, until)

    def is_soon(self, now: datetime) -> bool:
        """Whether it expires in a few seconds."""
        expires_at = self.view.expires_at
        return expires_at is not None and (expires_at - now).total_seconds() < _SOON_SECONDS


@dataclass(frozen=True, slots=True)
class Pending:
    """All that is pending, and who works on it."""

    rows: Sequence[Row]
    crew: str


Rows = Callable[[], Pending]


def as_table(pending: Pending, now: datetime, width: int) -> Table:
    """For a terminal of that width; each question keeps to its line."""
    cells = [row.cells(now) for row in pending.rows]
    drawn = Table(
        title=Text(f"{len(cells)} pending", "bold"), caption=Text(pending.crew), box=box.SIMPLE
    )
    drawn.title_justify = drawn.caption_justify = "left"
    for heading in HEADINGS:
        # Rich would take what is missing from all columns alike.
        most = _room(cells, width) if heading == "question" else None
        drawn.add_column(heading, no_wrap=True, max_width=most)
    for row, texts in zip(pending.rows, cells, strict=True):
        *others, until = map(Text, texts)
        drawn.add_row(*others, Text(until.plain, "bold red" if row.is_soon(now) else ""))
    return drawn


def _room(cells: Sequence[tuple[str, ...]], width: int) -> int:
    """What the other columns leave of the width, and enough to tell questions apart."""
    columns = zip(*cells, strict=True) if cells else [()] * len(HEADINGS)
    taken = sum(
        max(map(len, (heading, *column)))
        for heading, column in zip(HEADINGS, columns, strict=True)
        if heading != "question"
    )
    return max(_LEAST_ROOM, width - taken - _PADDING * len(HEADINGS) - 1)


def as_lines(rows: Rows, now: datetime) -> Iterator[str]:
    """For a pipe."""
    pending = rows()
    yield f"{len(pending.rows)} pending; {pending.crew}"
    for row in pending.rows:
        agent, question, done, waits, until = row.cells(now)
        yield f"{agent:<12} {question}  run {done} answered, waits {waits}, until: {until}"
