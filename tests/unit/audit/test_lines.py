"""How the command shows a report: every promise, what was judged, and the records of a breach."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.audit.checker import check
from bridge.audit.invariants import INVARIANTS
from bridge.cli import parser
from bridge.cli.audit import Audit, lines
from bridge.config import load
from tests.chaos.clean_log import clean_log
from tests.chaos.edits import again
from tests.chaos.written_log import SETUP, TOPICS

SETTINGS = """
[kafka]
bootstrap_servers = "127.0.0.1:1"
[[sources]]
name = "support-agents"
topic = "agents.run-finished"
"""


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    file = tmp_path / "bridge.toml"
    file.write_text(SETTINGS, encoding="utf-8")
    made = Audit(load(file, {}), thread=None, settle=10.0, most=100)
    made.records = clean_log()
    return made


def test_each_promise_has_its_line(audit: Audit) -> None:
    """In order, with what was judged of it, or why it cannot be."""
    shown = list(lines(audit, check(audit.records, SETUP)))
    named = [line.split()[0] for line in shown if line.startswith("I")]
    assert named == [invariant.name for invariant in INVARIANTS]
    assert shown[-1] == "no promise is broken"
    assert all(" holds " in line or " unseen " in line for line in shown if line[0] == "I")


def test_a_breach_is_shown_with_its_records(audit: Audit) -> None:
    """The message, whose run it is, and where it stands in the topics."""
    command = next(record for record in audit.records if record.role == "resume-commands")
    report = check(again(audit.records, command), SETUP)
    shown = "\n".join(lines(audit, report))
    assert "I1  BROKEN" in shown
    assert "2 resume commands for one run [support-agents, , thread-" in shown
    assert f"        {TOPICS['resume-commands']}/{command.partition}/{command.offset}" in shown


def test_help_names_the_promises_and_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    """Who reads the help knows what is judged."""
    with pytest.raises(SystemExit):
        parser.build().parse_args(["audit", "--help"])
    said = capsys.readouterr().out
    assert all(f"{each.name:4}{each.promise}" in said for each in INVARIANTS)
    assert "a promise that audit found broken" in said


@pytest.mark.parametrize("when", ["12h", "2026-11-30T12:00:00Z"])
def test_since_is_a_span_or_an_instant(when: str) -> None:
    """As people type both."""
    assert parser.build().parse_args(["audit", "--since", when]).since


def test_since_refuses_other_words(capsys: pytest.CaptureFixture[str]) -> None:
    """And says what it takes."""
    with pytest.raises(SystemExit):
        parser.build().parse_args(["audit", "--since", "yesterday"])
    assert "12h" in capsys.readouterr().err
