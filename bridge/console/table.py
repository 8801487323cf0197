"""Approvals as a table for a person, or as tab-separated lines for a pipe.

Everything that came from an agent is escaped: a message must not be able to paint the screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from rich.table import Table
from rich.text import Text

from bridge.observe.logs import escape
from bridge.records import Approval

HEADINGS = ("approval", "source", "thread", "question", "of", "pending for", "until", "flags")
_ID_WIDTH = 36
_WIDTHS = {"approval": _ID_WIDTH}
_FLEXIBLE = {"question": 4, "thread": 2, "source": 1, "flags": 1}
_LAYOUTS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (
        110,
        ("source", "thread", "question", "of", "pending for", "until", "flags", "approval"),
    ),
    (76, ("question", "thread", "pending for", "approval")),
    (0, ("question", "approval")),
)
"""From which width on which columns are shown: the id always, and never cut."""
_SOON_SECONDS = 60
_QUESTION_LENGTH = 200


def table(
    approvals: Sequence[Approval], now: datetime, width: int, most: int | None = None
) -> Table:
    """A rich table, one line a question, for a terminal of that width.

    Texts are cut with …, ids never: they stand last and can be copied. `most` rows; the caption
    says how many more there are.
    """
    shown = approvals if most is None else approvals[:most]
    chosen = next(names for least, names in _LAYOUTS if width >= least)
    said = []
    if more := len(approvals) - len(shown):
        said.append(f"{more} more are left out: pending --json shows all")
    if len(chosen) < len(HEADINGS):
        said.append("a wider terminal shows more columns")
    drawn = Table(
        title=f"{len(approvals)} pending",
        caption="; ".join(said) or None,
        box=None,
        padding=(0, 1, 0, 0),
    )
    for heading in chosen:
        flexible = heading in _FLEXIBLE
        drawn.add_column(
            heading,
            no_wrap=True,
            overflow="ellipsis",
            ratio=_FLEXIBLE.get(heading),
            min_width=None if flexible else _WIDTHS.get(heading),
        )
    drawn.expand = True
    for view in shown:
        cells = dict(zip(HEADINGS, map(Text, _cells(view, now)), strict=True))
        if view.expires_at and (view.expires_at - now).total_seconds() < _SOON_SECONDS:
            cells["until"].stylize("bold red")
        drawn.add_row(*(cells[heading] for heading in chosen))
    return drawn


def lines(approvals: Iterable[Approval], now: datetime) -> Iterable[str]:
    """A heading and one tab-separated line for each."""
    yield "\t".join(HEADINGS)
    for view in approvals:
        yield "\t".join(_cells(view, now))


def span(seconds: float) -> str:
    """A duration in its two largest units: "5s", "3m 20s", "2d 4h"."""
    left = max(0, int(seconds))
    units = []
    for name, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            units.append(f"{count}{name}")
    return " ".join(units[:2]) or "0s"


def _cells(view: Approval, now: datetime) -> list[str]:
    # One line each: line ends and tabs of a message are spaces to whoever reads it here.
    until = "-"
    if view.expires_at is not None:
        left = (view.expires_at - now).total_seconds()
        until = f"in {span(left)}" if left > 0 else "due"
    question = " ".join((view.message or "").split()) or view.reason or view.interrupt_id
    return [
        escape(view.approval_id),
        escape(view.source),
        escape(view.thread_id),
        escape(question[:_QUESTION_LENGTH]),
        f"{view.index + 1}/{view.total}",
        span((now - view.published_at).total_seconds()),
        until,
        escape(" ".join(view.flags)),
    ]
