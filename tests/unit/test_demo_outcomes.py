"""The demonstration must notice when what it tells did not happen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from typing import Any

from rich.console import Console

from bridge.audit.log import LogRecord, Role
from bridge.demo.cast import Reply, cast
from bridge.demo.outcomes import Ending, Passing, outcomes
from bridge.demo.pending_table import Pending, Row, as_lines, as_table
from bridge.demo.task_agent import SIGN_IN
from bridge.records import Approval, Instant, Origin

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SHOP, REVIEW = cast(NOON).shop, cast(NOON).review
REPLY = Reply("right", SHOP, 0, {"approved": True}, "accepted")
ENDING = Ending(SHOP, SHOP.run_id, "answers", ("resolved",))


def published(role: Role, body: Mapping[str, Any]) -> LogRecord:
    return LogRecord(role, role, 0, 0, 0, None, json.dumps(body).encode())


def verdict(said: str, answer_id: str = "right") -> LogRecord:
    return published("answer-verdicts", {"answer_id": answer_id, "verdict": said})


def command(run_id: str = SHOP.run_id, status: str = "resolved") -> LogRecord:
    named = {"source": SHOP.name, "thread_id": SHOP.thread_id, "run_id": run_id}
    more = {"entries": [{"status": status}], "native": {"method": "run"}}
    return published("resume-commands", {**named, "completed_by": "answers", **more})


def missed(*records: LogRecord) -> list[str]:
    return [each.text for each in outcomes([REPLY], [ENDING], [], records) if not each.happened]


def test_what_happened_as_told_is_not_missed() -> None:
    """One verdict as expected and one command as expected are all that is needed."""
    assert missed(verdict("accepted"), command()) == []


def test_a_verdict_that_is_missing_wrong_or_double_is_noticed() -> None:
    """Each answer has exactly one verdict, and it is the one told."""
    text = "answer right: accepted expected, found"
    assert missed(command()) == [f"{text} none"]
    assert missed(verdict("late"), command()) == [f"{text} late"]
    double = missed(verdict("accepted"), verdict("accepted"), command())
    assert double == [f"{text} accepted and accepted"]


def test_a_command_that_is_missing_wrong_or_too_many_is_noticed() -> None:
    """Each run that ends has exactly one command, with the entries told, and no other run has."""
    assert len(missed(verdict("accepted"))) == 2
    assert len(missed(verdict("accepted"), command(status="cancelled"))) == 1
    assert len(missed(verdict("accepted"), command(), command())) == 2
    assert len(missed(verdict("accepted"), command(), command(run_id="another"))) == 1


def closed(reason: str | None) -> LogRecord:
    named = {"source": REVIEW.name, "thread_id": REVIEW.thread_id, "run_id": SIGN_IN}
    end = {"run_outcome": "withdrawn", "closed_reason": reason} if reason else {}
    return published("approvals", named | end)


def test_a_question_that_stays_open_or_closes_otherwise_is_noticed() -> None:
    """What has to close by itself is looked for among the approvals, under its own reason."""
    passing = [Passing(REVIEW, SIGN_IN, "moved_on")]

    def happened(*reasons: str | None) -> bool:
        records = [closed(reason) for reason in reasons]
        return all(each.happened for each in outcomes([], [], passing, records))

    assert happened(None, "moved_on")
    assert not happened(None)
    assert not happened(None, "operator")


def test_a_task_given_up_is_expected_to_be_cancelled() -> None:
    """A command that sends what it should cancel is not the one that had to come."""
    ending = Ending(REVIEW, REVIEW.run_id, "answers", ("resolved", "cancelled"))
    named = {"source": REVIEW.name, "thread_id": REVIEW.thread_id, "run_id": REVIEW.run_id}
    entries = [{"status": status} for status in ending.statuses]
    for method, happened in (("CancelTask", True), ("SendMessage", False)):
        body = {**named, "completed_by": "answers", "native": {"method": method}}
        found = outcomes(
            [], [ending], [], [published("resume-commands", body | {"entries": entries})]
        )
        assert next(found).happened is happened


def view(message: str, source: str = "s") -> Approval:
    noon = Instant.of(NOON)
    return Approval(
        approval_id="id",
        revision=1,
        status="pending",
        command_id="c",
        kind="input",
        protocol="ag-ui",
        source=source,
        scope="",
        thread_id="t",
        run_id="r",
        interrupt_id="i",
        index=0,
        total=2,
        flags=(),
        published_at=noon,
        actions=(),
        origin=Origin(topic="t", partition=0, offset=0, timestamp=noon),
        message=message,
    )


def test_a_question_cannot_paint_the_screen() -> None:
    """An agent's text shows as text, whatever it holds."""
    pending = Pending([Row(view("\x1b[2J\u202epay[bold]"), 0)], "worker 1")
    out = StringIO()
    Console(file=out, width=100).print(as_table(pending, NOON, 100))
    shown = [*as_lines(lambda: pending, NOON), out.getvalue()]
    assert all("\\u001b[2J\\u202epay[bold]" in text for text in (shown[1], shown[2]))
    assert not any(mark in "".join(shown) for mark in "\x1b\u202e")


def test_the_table_keeps_each_question_on_its_line() -> None:
    """A long question is cut, and no other column loses anything by it."""
    rows = [Row(view("x" * 300), 0), Row(view("short", "a-long-source"), 1)]
    out = StringIO()
    Console(file=out, width=80).print(as_table(Pending(rows, ""), NOON, 80))
    assert "a-long-source" in out.getvalue()
    assert "no deadline" in out.getvalue()
    assert out.getvalue().count("xxx…") == 1


def test_replies_keep_their_expectation() -> None:
    """The same answer twice differs in its id and its verdict alone."""
    again = replace(REPLY, answer_id="twice", verdict="duplicate")
    first, second = json.loads(REPLY.record()), json.loads(again.record())
    assert first.pop("answer_id") != second.pop("answer_id")
    assert first == second
