"""The README is read to its end, and what it shows is one story that works."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from bridge import records
from bridge.core.model import Answer, Interrupted, Limits, Origin
from bridge.core.record import Record
from bridge.protocols import PROTOCOLS
from bridge.records import Encoded, decode
from bridge.records.answers import read_answer
from tests.unit.books.pages import PAGES, ROOT, blocks, code, rows, section

LONGEST = 220


def test_it_is_short_enough_to_be_read() -> None:
    """What is longer stands in docs/."""
    assert len(PAGES["README.md"].splitlines()) <= LONGEST


def test_the_figures_shown_are_those_that_were_recorded() -> None:
    """With the command that measures them; a new record of it goes into the README too."""
    recorded = (ROOT / "tests" / "bench" / "RESULTS.md").read_text("utf-8")
    table = [row for row in rows(section("README.md", "Status and limits")) if len(row) == 3]
    assert table
    for _, measured, command in table:
        name = code(command).partition("ARGS=")[2]
        figure = re.search(rf"^## {name}$(.*?)(?=^## |\Z)", recorded, re.M | re.S)
        assert figure, name
        for number in re.findall(r"\d[\d,.]*\d", measured):
            assert number in figure[1], f"{name}: {number}"


def test_the_event_shown_asks_what_the_approval_shown_says() -> None:
    """The README's event and the records of the docs are one story."""
    (event,) = blocks(PAGES["README.md"], "json")
    (approval,) = blocks(section("docs/records.md", "Approval"), "json")
    record = Record(event.encode(), b"thread-1", (), Origin("t", 0, 0, 0))
    asked, *_ = PROTOCOLS["ag-ui"].read(record, "support-agents", Limits()).inputs
    assert isinstance(asked, Interrupted)
    shown = json.loads(approval)
    assert asked.questions[shown["index"]].message == shown["message"]
    assert len(asked.questions) == shown["total"]


def test_the_answer_shown_is_read() -> None:
    """By the bridge's own reader."""
    (answer,) = blocks(section("docs/records.md", "Answer"), "json")
    record = Record(answer.encode(), None, (), Origin("t", 0, 0, 0))
    assert isinstance(read_answer(record, Limits()), Answer)


def test_the_python_shown_answers_the_approval_shown() -> None:
    """As somebody would paste it, with the record that stands below it."""
    (approval,) = blocks(section("docs/records.md", "Approval"), "json")
    (program,) = blocks(section("docs/records.md", "Records"), "python")
    names: dict[str, Any] = {"record": Encoded(b"key", approval.encode())}
    exec(program, names)
    answer = decode(records.Answer, names["sent"])
    assert answer is not None
    assert answer.approval_id == json.loads(approval)["approval_id"]


@pytest.mark.parametrize("page", PAGES)
def test_json_that_is_shown_is_json(page: str) -> None:
    """What people copy must parse."""
    for block in blocks(PAGES[page], "json"):
        assert json.loads(block)
