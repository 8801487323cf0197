"""Agents that share threads and ask in the older way: the checker knows whose, what, and how."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from bridge.audit.checker import check
from bridge.audit.log import LogRecord, Role
from bridge.audit.report import Report
from tests.chaos.rehearsal import SETUP, rehearsed

Body = dict[str, Any]
SEED = 3


@pytest.fixture(scope="module")
def log() -> list[LogRecord]:
    return rehearsed(SEED, 120, ("desks",))


@pytest.mark.parametrize("seed", range(20, 26))
def test_no_invariant_breaks(seed: int) -> None:
    report = check(rehearsed(seed, 120, ("desks",)), SETUP)
    assert report.ok, f"seed {seed}\n{report.summary()}"
    assert report.outcomes["resumed"] > 40, report.summary()


def test_whatever_is_lost_is_noticed(log: list[LogRecord]) -> None:
    outputs = {"approvals", "resume-commands", "answer-verdicts", "reroute"}
    written = [record for record in log if record.role in outputs]
    for lost in Random(SEED).sample(written, 25):
        assert not check([record for record in log if record is not lost], SETUP).ok, str(lost)


def edited(
    log: list[LogRecord], role: Role, fits: Callable[[Body], Any], edit: Callable[[Body], None]
) -> Report:
    """The report on the log with the first such record changed."""
    for index, record in enumerate(log):
        body = json.loads(record.value) if record.role == role and record.value else {}
        if body and fits(body):
            edit(body)
            changed = record._replace(value=json.dumps(body).encode())
            return check([*log[:index], changed, *log[index + 1 :]], SETUP)
    raise AssertionError(f"no such record among {role}")


def resume_of(command: Body) -> Any:
    return (command["native"]["body"]["forwardedProps"].get("command") or {}).get("resume")


def test_another_answer_in_langgraphs_command_breaks_i3(log: list[LogRecord]) -> None:
    def edit(command: Body) -> None:
        command["native"]["body"]["forwardedProps"]["command"]["resume"] = "other"

    report = edited(log, "resume-commands", lambda body: resume_of(body) is not None, edit)
    assert report.broken == {"I3"}


def test_a_text_that_the_adapter_would_read_as_a_number_breaks_i3(log: list[LogRecord]) -> None:
    def edit(command: Body) -> None:
        command["native"]["body"]["forwardedProps"]["command"]["resume"] = "42"

    report = edited(log, "resume-commands", lambda body: resume_of(body) == '"42"', edit)
    assert report.broken == {"I3"}


def test_entries_beside_a_command_break_i3(log: list[LogRecord]) -> None:
    """They would win over it."""

    def edit(command: Body) -> None:
        command["native"]["body"]["resume"] = []

    report = edited(log, "resume-commands", lambda body: resume_of(body) is not None, edit)
    assert report.broken == {"I3"}


def test_a_question_of_another_agent_breaks_i4(log: list[LogRecord]) -> None:
    def edit(approval: Body) -> None:
        approval["scope"] = "triage"

    report = edited(log, "approvals", lambda body: body["revision"] == 1, edit)
    assert "I4" in report.broken


def test_a_run_that_only_another_agents_resume_covers_is_still_open(log: list[LogRecord]) -> None:
    """The log has such resumes; one that closed a run would have no cause."""

    def edit(approval: Body) -> None:
        approval.update(run_outcome="withdrawn", closed_reason="resumed_elsewhere")

    report = edited(log, "approvals", lambda body: body.get("run_outcome") == "resumed", edit)
    assert "I2" in report.broken
