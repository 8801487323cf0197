"""The checker is shown to fail: one seeded violation of each invariant, each named by it."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bridge.demo import check as package
from bridge.demo.check import ids
from bridge.demo.check.checker import RULES, check
from bridge.demo.check.log import LogRecord, Role
from bridge.demo.check.outside import Recovery
from bridge.demo.check.story import Story
from tests.chaos.written_log import SETUP, TOPICS, clean_log, interrupt, packed

Records = list[LogRecord]
OUTPUTS: tuple[Role, ...] = (
    "approvals",
    "resume-commands",
    "answer-verdicts",
    "dead-letters",
    "reroute",
)


def found(records: Records, role: Role, **members: Any) -> LogRecord:
    """The first record of that role whose JSON body has these members."""
    return next(r for r in records if r.role == role and members.items() <= body(r).items())


def letter(records: Records, reason: bytes) -> LogRecord:
    return next(r for r in records if ("bridge-reason", reason) in r.headers)


def body(record: LogRecord) -> dict[str, Any]:
    try:
        loaded = json.loads(record.value or b"{}")
    except ValueError:
        return {}
    return loaded if isinstance(loaded, dict) else {}


def without(records: Records, gone: LogRecord) -> Records:
    return [record for record in records if record is not gone]


def again(records: Records, record: LogRecord) -> Records:
    """The same record once more, at the end of its partition."""
    same = [r.offset for r in records if (r.role, r.partition) == (record.role, record.partition)]
    return [*records, record._replace(offset=max(same) + 1)]


def changed(records: Records, record: LogRecord, edit: Callable[[dict[str, Any]], Any]) -> Records:
    """The log with an edited body in that record's place."""
    edited = body(record)
    edit(edited)
    return [r._replace(value=packed(edited)) if r is record else r for r in records]


def setting(role: Role, where: dict[str, Any], **new: Any) -> Callable[[Records], Records]:
    return lambda log: changed(log, found(log, role, **where), lambda b: b.update(new))


def dropping(role: Role, **where: Any) -> Callable[[Records], Records]:
    return lambda log: without(log, found(log, role, **where))


def doubling(role: Role, **where: Any) -> Callable[[Records], Records]:
    return lambda log: again(log, found(log, role, **where))


def entry_set(index: int, **new: Any) -> Callable[[Records], Records]:
    """Edits an entry of the refund thread's command."""
    return lambda log: changed(
        log,
        found(log, "resume-commands", thread_id="thread-refund"),
        lambda b: b["entries"][index].update(new),
    )


def moved(role: Role, **where: Any) -> Callable[[Records], Records]:
    """Puts a record on the other slot's partition."""

    def move(log: Records) -> Records:
        record = found(log, role, **where)
        away = record._replace(partition=1 - record.partition, offset=10_000)
        return [*without(log, record), away]

    return move


def with_value(role: Role, index: int, value: bytes) -> Callable[[Records], Records]:
    def put(log: Records) -> Records:
        record = [r for r in log if r.role == role][index]
        return [r._replace(value=value) if r is record else r for r in log]

    return put


def every(role: Role, where: dict[str, Any], **new: Any) -> Callable[[Records], Records]:
    """Sets members in every matching record."""

    def edit(log: Records) -> Records:
        for record in [r for r in log if r.role == role and where.items() <= body(r).items()]:
            log = changed(log, record, lambda b: b.update(new))
        return log

    return edit


def unasked(log: Records) -> Records:
    """An event nobody took notice of."""
    outcome = {"type": "interrupt", "interrupts": [interrupt("int-new")]}
    event = {"type": "RUN_FINISHED", "threadId": "thread-new", "runId": "r", "outcome": outcome}
    partition = ids.home("thread-new", 2)
    topic, value = TOPICS["input"], packed(event)
    return [*log, LogRecord("input", topic, partition, 999, 1, b"thread-new", value)]


def expired_comes_back(log: Records) -> Records:
    log = again(log, found(log, "approvals", status="expired"))
    return changed(log, log[-1], lambda b: b.update(revision=b["revision"] + 1, status="answered"))


def overdue(log: Records) -> Records:
    """The newer run of the thread has been past its expiry for an hour."""
    event = next(r for r in log if body(r).get("runId") == "run-2")
    soon = "2026-09-21T14:00:00.000Z"
    log = changed(log, event, lambda b: b["outcome"]["interrupts"][0].update(expiresAt=soon))
    return every("approvals", {"run_id": "run-2"}, expires_at=soon, expires_at_raw=soon)(log)


REFUND = {"thread_id": "thread-refund"}
ACCEPTED = {**REFUND, "verdict": "accepted"}
CLOSING = {**REFUND, "run_outcome": "resumed"}

SEEDED: list[tuple[str, str, str, Callable[[Records], Records]]] = [
    # invariant, rule that must speak, what is wrong, how
    ("I1", "one_command_per_run", "two commands", doubling("resume-commands", **REFUND)),
    (
        "I1",
        "one_command_per_run",
        "a second command under another id",
        lambda log: changed(
            again(log, found(log, "resume-commands", **REFUND)),
            found(log, "resume-commands", **REFUND),
            lambda b: b.update(command_id="other"),
        ),
    ),
    ("I2", "command_iff_resumed", "no command", dropping("resume-commands", **REFUND)),
    (
        "I2",
        "command_iff_resumed",
        "a command for an open run",
        setting("resume-commands", REFUND, thread_id="thread-again", run_id="run-2"),
    ),
    (
        "I2",
        "command_iff_resumed",
        "one sibling superseded, the other resumed",
        setting("approvals", CLOSING, run_outcome="superseded"),
    ),
    (
        "I2",
        "command_iff_resumed",
        "closed without a reason",
        every("approvals", {"thread_id": "thread-ops"}, closed_reason=None),
    ),
    ("I2", "nothing_stays_open_for_ever", "open past its expiry", overdue),
    (
        "I2",
        "nothing_stays_open_for_ever",
        "two open runs on a thread",
        every("approvals", {"thread_id": "thread-again"}, run_outcome=None),
    ),
    (
        "I2",
        "closed_for_a_cause",
        "superseded by nothing",
        every("approvals", {"thread_id": "thread-ops", "revision": 2}, run_outcome="superseded"),
    ),
    ("I2", "closed_for_a_cause", "withdrawn by nobody", dropping("operations", op="withdraw")),
    (
        "I2",
        "a_run_that_moved_on_is_closed",
        "resumed elsewhere, still open",
        dropping("approvals", thread_id="thread-away", run_outcome="withdrawn"),
    ),
    (
        "I2",
        "operations_take_effect",
        "a withdrawal without effect",
        dropping("approvals", thread_id="thread-ops", run_outcome="withdrawn"),
    ),
    ("I3", "entries_come_from_answers", "a forged payload", entry_set(0, payload={"approved": 1})),
    (
        "I3",
        "entries_come_from_answers",
        "50.0 became 50",
        entry_set(1, payload={"approved": True, "limit": 50}),
    ),
    (
        "I3",
        "entries_come_from_answers",
        "key order changed",
        entry_set(1, payload={"limit": 50.0, "approved": True}),
    ),
    ("I3", "entries_come_from_answers", "another interrupt", entry_set(0, interrupt_id="int-b")),
    (
        "I3",
        "entries_come_from_answers",
        "an entry missing",
        lambda log: changed(
            log, found(log, "resume-commands", **REFUND), lambda b: b["entries"].pop()
        ),
    ),
    (
        "I3",
        "entries_come_from_answers",
        "a deadline out of nothing",
        setting("resume-commands", REFUND, deliver_by="2026-09-21T14:00:00.000Z"),
    ),
    (
        "I3",
        "accepted_means_valid",
        "an invalid payload accepted",
        setting("answer-verdicts", {"verdict": "invalid_payload"}, verdict="accepted"),
    ),
    ("I4", "every_event_is_accounted_for", "an event ignored", unasked),
    (
        "I4",
        "every_event_is_accounted_for",
        "one of two interrupts never asked",
        lambda log: [r for r in log if body(r).get("interrupt_id") != "int-b"],
    ),
    (
        "I4",
        "every_event_is_accounted_for",
        "a conflict ignored silently",
        lambda log: without(log, letter(log, b"run_conflict")),
    ),
    (
        "I4",
        "every_approval_was_asked",
        "an approval out of nothing",
        lambda log: without(log, next(r for r in log if body(r).get("runId") == "run-2")),
    ),
    (
        "I4",
        "every_approval_was_asked",
        "a message rewritten",
        setting("approvals", {**REFUND, "revision": 1}, message="Run it!"),
    ),
    ("I4", "revisions_have_no_gap", "asked twice", doubling("approvals", **REFUND, revision=1)),
    (
        "I4",
        "revisions_have_no_gap",
        "a gap",
        dropping("approvals", interrupt_id="int-b", revision=2),
    ),
    (
        "I6",
        "outputs_have_their_input",
        "a verdict on nothing",
        setting(
            "answer-verdicts",
            ACCEPTED,
            origin={"topic": TOPICS["answers"], "partition": 0, "offset": 555, "timestamp": "x"},
        ),
    ),
    (
        "I4",
        "revisions_have_no_gap",
        "a later revision about another run",
        setting("approvals", {**REFUND, "revision": 2}, run_id="run-2"),
    ),
    ("I6", "outputs_have_their_input", "garbage", with_value("answer-verdicts", 0, b"\x00")),
    ("I6", "outputs_stand_at_home", "another slot's output", moved("resume-commands", **REFUND)),
    (
        "I6",
        "hops_lead_home_once",
        "a record that never went home",
        lambda log: without(log, next(r for r in log if r.role == "reroute")),
    ),
    (
        "I6",
        "hops_lead_home_once",
        "two hops",
        lambda log: again(log, next(r for r in log if r.role == "reroute")),
    ),
    ("I8", "one_verdict_each", "no verdict", dropping("answer-verdicts", verdict="late")),
    ("I8", "one_verdict_each", "two verdicts", doubling("answer-verdicts", verdict="late")),
    (
        "I8",
        "one_verdict_each",
        "a verdict on another question",
        setting("answer-verdicts", {"verdict": "late"}, interrupt_id="int-z"),
    ),
    (
        "I8",
        "first_accepted_stands",
        "a second answer accepted",
        setting("answer-verdicts", {"verdict": "conflict"}, verdict="accepted"),
    ),
    (
        "I8",
        "first_accepted_stands",
        "duplicate said of a conflicting answer",
        setting("answer-verdicts", {"verdict": "conflict"}, verdict="duplicate"),
    ),
    (
        "I8",
        "shape_is_judged_rightly",
        "a sound answer called malformed",
        setting("answer-verdicts", {"verdict": "late"}, verdict="malformed"),
    ),
    (
        "I8",
        "accepted_means_valid",
        "a valid answer called invalid",
        setting("answer-verdicts", {"verdict": "late"}, verdict="invalid_payload"),
    ),
    (
        "I8",
        "accepted_shows_and_is_in_time",
        "accepted, but never shown",
        every("approvals", REFUND, answer_id=None),
    ),
    (
        "I8",
        "accepted_shows_and_is_in_time",
        "shown under another name",
        setting("approvals", {**CLOSING, "interrupt_id": "int-a"}, answered_by="eve"),
    ),
    (
        "I8",
        "refusals_have_their_cause",
        "a published question called unknown",
        setting("answer-verdicts", {"verdict": "late"}, verdict="unknown"),
    ),
    (
        "I8",
        "refusals_have_their_cause",
        "stale said of a resumed run",
        setting("answer-verdicts", {"verdict": "late"}, verdict="stale"),
    ),
    (
        "I9",
        "bad_records_are_set_aside",
        "a bad record dropped",
        lambda log: without(log, letter(log, b"not_json")),
    ),
    ("I9", "bad_records_are_set_aside", "bytes changed", with_value("dead-letters", 1, b"{not")),
    (
        "I9",
        "bad_records_are_set_aside",
        "two dead letters",
        lambda log: again(log, letter(log, b"not_json")),
    ),
    ("I10", "an_end_is_final", "an expired question answered later", expired_comes_back),
    (
        "I10",
        "accepted_shows_and_is_in_time",
        "an answer accepted after expiry",
        setting("answer-verdicts", {"verdict": "expired"}, verdict="accepted"),
    ),
    (
        "I10",
        "answers_and_expiry_do_not_mix",
        "an expiry passed off as answers",
        setting("resume-commands", {"completed_by": "expiry"}, completed_by="answers"),
    ),
]


def test_a_clean_log_breaks_nothing() -> None:
    """The story has every kind of verdict and end, and the checker has nothing to say."""
    report = check(clean_log(), SETUP)
    assert report.ok, report.summary()
    assert set(report.outcomes) == {"resumed", "superseded", "withdrawn", "open"}
    assert len(report.verdicts) == 10
    assert "10 verdicts" not in report.summary()


@pytest.mark.parametrize(
    ("invariant", "rule", "seed"),
    [pytest.param(*row[:2], row[3], id=f"{row[0]}-{row[2]}") for row in SEEDED],
)
def test_a_seeded_violation_is_named(
    invariant: str, rule: str, seed: Callable[[Records], Records]
) -> None:
    """The rule that is responsible speaks, and the report names the invariant."""
    log = seed(clean_log())
    spoken = next(r for r in RULES if r.__name__ == rule)(Story(log, SETUP))
    assert invariant in {violation.invariant for violation in spoken}
    assert invariant in check(log, SETUP).broken


def test_every_rule_has_a_seed() -> None:
    """A rule that was never seen to fail proves nothing."""
    assert {rule.__name__ for rule in RULES} == {row[1] for row in SEEDED}


def test_a_restore_that_differs_breaks_i5() -> None:
    """State is compared byte for byte; a tombstone equals a missing key."""
    live = {b"run/1": b"a", b"run/2": None}
    assert check(clean_log(), SETUP, restores=[(live, {b"run/1": b"a"})]).ok
    assert check(clean_log(), SETUP, restores=[(live, {b"run/1": b"b"})]).broken == {"I5"}
    assert check(clean_log(), SETUP, restores=[(live, {})]).broken == {"I5"}


@pytest.mark.parametrize("first", [None, 120.5])
def test_late_progress_breaks_i7(first: float | None) -> None:
    """Neither a long silence nor an endless one passes."""
    in_time = Recovery("kill", ended=100.0, first_progress=109.0, bound=10.0)
    assert check(clean_log(), SETUP, recoveries=[in_time]).ok
    late = Recovery("kill", ended=100.0, first_progress=first, bound=10.0)
    assert check(clean_log(), SETUP, recoveries=[late]).broken == {"I7"}


def test_any_output_lost_is_noticed() -> None:
    """Each published record that is missing breaks some invariant."""
    log = clean_log()
    for lost in (record for record in log if record.role in OUTPUTS):
        assert not check(without(log, lost), SETUP).ok, lost


def test_any_output_doubled_is_noticed() -> None:
    """Each published record that appears twice breaks some invariant."""
    log = clean_log()
    for twice in (record for record in log if record.role in OUTPUTS):
        assert not check(again(log, twice), SETUP).ok, twice


@pytest.mark.parametrize("seed", range(25))
def test_a_torn_transaction_is_noticed(seed: int) -> None:
    """Outputs of one topic lost from some moment on, as when a commit is only half seen."""
    chance = random.Random(seed)
    log = clean_log()
    torn = chance.choice([r for r in log if r.role in OUTPUTS])
    kept = [r for r in log if r.role != torn.role or r.timestamp < torn.timestamp]
    assert not check(kept, SETUP).ok, f"seed {seed}: {torn}"


def test_work_still_to_do_is_no_violation() -> None:
    """Inputs beyond the positions may wait; the same inputs below them may not."""
    log = unasked(clean_log())
    unread = replace(SETUP, final=False)
    assert check(log, unread).ok
    ends = {(r.topic, r.partition): 998 for r in log}
    assert check(log, replace(unread, positions=ends)).ok
    passed = {place: 1_000 for place in ends}
    assert check(log, replace(unread, positions=passed)).broken == {"I4"}


def test_an_output_ahead_of_its_position_breaks_i6() -> None:
    """Output and position commit together, so a position that lags is a torn transaction."""
    log = clean_log()
    positions = {(r.topic, r.partition): 1_000 for r in log} | {(TOPICS["answers"], 0): 0}
    assert "I6" in check(log, replace(SETUP, positions=positions)).broken


def test_ids_are_those_of_the_published_examples() -> None:
    """The checker's own id scheme against the two examples of the contract."""
    plain = ids.make_id("approval", "support-agents", "", "thread-1", "run-1", "int-1")
    other = ids.make_id("approval", "a2a", "agent-1/tenant-9", "タスク-1", "q1", "q1")
    assert (plain, ids.home("thread-1", 6)) == ("faf6703e-aba3-8201-b3a3-5057f251dd62", 2)
    assert (other, ids.home_of_id(other, 6)) == ("d689a6cf-7b9c-861c-94e7-5621b7818833", 5)


def test_the_checker_shares_no_code_with_the_bridge() -> None:
    """A witness that imports the accused is none."""
    for file in Path(next(iter(package.__path__))).glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            named = node.module if isinstance(node, ast.ImportFrom) else None
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in filter(None, [named, *names]):
                assert not name.startswith("bridge") or name.startswith("bridge.demo.check"), file
