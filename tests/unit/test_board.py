"""The board: what is pending, folded from approvals in whatever order and state they are found."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from bridge.console.board import Board
from bridge.console.table import lines, span, table
from bridge.core.model import Origin
from bridge.core.record import Record
from bridge.records import Approval

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def approval(**changes: Any) -> dict[str, Any]:
    made = {
        "approval_id": "a",
        "revision": 1,
        "status": "pending",
        "command_id": "c",
        "kind": "input",
        "protocol": "ag-ui",
        "source": "s",
        "scope": "",
        "thread_id": "t",
        "run_id": "r",
        "interrupt_id": "i",
        "published_at": "2026-01-01T11:00:00.000Z",
        "message": "Pay 50 €?",
        "index": 0,
        "total": 1,
        "flags": [],
        "actions": [],
        "origin": {
            "topic": "t",
            "partition": 0,
            "offset": 0,
            "timestamp": "2026-01-01T11:00:00.000Z",
        },
    }
    return made | changes


def record(value: bytes | None, key: bytes = b"a") -> Record:
    return Record(value, key, (), Origin("approvals", 0, 0, 0))


def board(*approvals: dict[str, Any]) -> Board:
    made = Board()
    for each in approvals:
        made.take(record(json.dumps(each).encode()))
    return made


def ids(made: Board, source: str | None = None) -> list[str]:
    return [shown.view.approval_id for shown in made.pending(source)]


def test_pending_ones_are_listed_oldest_first_and_by_source() -> None:
    made = board(
        approval(approval_id="new", published_at="2026-01-01T11:30:00.000Z"),
        approval(approval_id="old", source="other"),
    )
    assert ids(made) == ["old", "new"]
    assert ids(made, "other") == ["old"]


def test_the_highest_revision_counts() -> None:
    """Compaction drops revisions, a reader that rebuilds may meet an old one late."""
    made = board(approval(revision=3, status="answered"), approval(revision=1))
    assert ids(made) == []


def test_a_tombstone_removes_and_a_takeovers_null_does_not_harm() -> None:
    made = board(approval())
    made.take(record(None, b"__bridge/slot-1"))
    assert ids(made) == ["a"]
    made.take(record(None))
    assert ids(made) == []


def test_what_is_no_approval_is_counted() -> None:
    made = board(approval())
    made.take(record(b"\x00\x00\x00\x00\x01avro"))
    made.take(record(b'{"approval_id": 1}'))
    assert made.unreadable == 2
    assert ids(made) == ["a"]


def test_fields_of_later_releases_are_skipped_and_the_text_is_kept() -> None:
    value = json.dumps(approval(novelty=1)).encode()
    made = Board()
    shown = made.take(record(value))
    assert shown is not None
    assert shown.text == value


@pytest.mark.parametrize(
    ("seconds", "text"), [(-5, "0s"), (5, "5s"), (3_600, "1h"), (3_700, "1h 1m"), (90_061, "1d 1h")]
)
def test_spans_show_two_units(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_piped_lines_keep_one_line_each_whatever_a_message_holds() -> None:
    """An agent's text can neither start a line nor move a column."""
    hostile = approval(message="x\n\ty\x1b[31m", expires_at="2026-01-01T12:02:00.000Z")
    heading, line = lines([shown.view for shown in board(hostile).pending()], NOW)
    assert len(line.split("\t")) == len(heading.split("\t"))
    assert "\x1b" not in line
    assert "1h\tin 2m" in line
    assert "\tx y\\u001b[31m\t" in line, "line ends and tabs are a space to who reads it"


def test_a_table_fits_the_screen_and_says_how_many_more() -> None:
    views = [view(approval_id=str(n), message="[bold]x[/bold]") for n in range(5)]
    text = drawn(views, 120, most=2)
    assert "5 pending" in text
    assert "3 more are left out" in text
    assert "[bold]x[/bold]" in text


def view(**changes: Any) -> Approval:
    """An approval as the board shows it."""
    (shown,) = board(approval(**changes)).pending()
    return shown.view


def drawn(views: list[Approval], width: int, most: int | None = None) -> str:
    console = Console(width=width, record=True, force_terminal=False, file=io.StringIO())
    console.print(table(views, NOW, width, most=most))
    return console.export_text()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_each_question_takes_one_line_and_its_id_can_be_copied(width: int) -> None:
    """However long the texts are; what is cut ends with …, and the question is still to be seen."""
    long = view(
        approval_id="faf6703e-aba3-8201-b3a3-5057f251dd62",
        source="support-agents-of-the-north",
        thread_id="thread-" + "9" * 40,
        message="Approve the payment of 50 € to Ann? " * 5,
        flags=["schema_unusable", "no_refusal"],
    )
    shown = [line.rstrip() for line in drawn([long, long], width).splitlines()]
    rows = [line for line in shown if line.endswith(long.approval_id)]
    assert len(rows) == 2
    assert all(len(line) <= width for line in shown)
    assert all("Approve" in row and "…" in row for row in rows)
    assert ("wider terminal" in "\n".join(shown)) == (width < 120)
