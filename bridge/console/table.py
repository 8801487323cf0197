"""Approvals as a table for a person, or as tab-separated lines for a pipe.

Everything that came from an agent is escaped: a message must not be able to paint the screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from rich.table import Table
from rich.text import Text

from bridge.console.board import ApprovalView
from bridge.observe.logs import escape

HEADINGS = ("approval", "source", "thread", "question", "of", "pending for", "until", "flags")
_SOON_SECONDS = 60
_QUESTION_LENGTH = 200


def table(approvals: Sequence[ApprovalView], now: datetime, most: int | None = None) -> Table:
    """A rich table; `most` rows, and how many more there are in its caption."""
    shown = approvals if most is None else approvals[:most]
    more = len(approvals) - len(shown)
    drawn = Table(title=f"{len(approvals)} pending", caption=f"{more} more" if more else None)
    for heading in HEADINGS:
        drawn.add_column(heading, overflow="fold", no_wrap=heading == "approval")
    for view in shown:
        cells = [Text(cell) for cell in _cells(view, now)]
        if view.expires_at and (view.expires_at - now).total_seconds() < _SOON_SECONDS:
            cells[6].stylize("bold red")
        drawn.add_row(*cells)
    return drawn


def lines(approvals: Iterable[ApprovalView], now: datetime) -> Iterable[str]:
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


def _cells(view: ApprovalView, now: datetime) -> list[str]:
    question = view.message or view.reason or view.interrupt_id
    return [
        escape(view.approval_id),
        escape(view.source),
        escape(view.thread_id),
        escape(question[:_QUESTION_LENGTH]),
        f"{view.index + 1}/{view.total}",
        span((now - view.published_at).total_seconds()),
        _until(view, now),
        escape(" ".join(view.flags)),
    ]


def _until(view: ApprovalView, now: datetime) -> str:
    if view.expires_at is None:
        return "-"
    left = (view.expires_at - now).total_seconds()
    return f"in {span(left)}" if left > 0 else "due"
