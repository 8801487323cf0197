"""Violations to seed into a clean log: which rule must speak, and under which invariant's name."""

from __future__ import annotations

from collections.abc import Callable

from bridge.audit import ids
from bridge.audit.log import LogRecord
from tests.chaos.edits import (
    Records,
    again,
    body,
    changed,
    doubling,
    dropping,
    entry_set,
    every,
    found,
    letter,
    moved,
    refused_as,
    setting,
    with_value,
    without,
)
from tests.chaos.written_log import TOPICS, interrupt, packed


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

Seed = tuple[str, str, str, Callable[[Records], Records]]
SEEDED: list[Seed] = [
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
        "every_event_is_accounted_for",
        "refused as untimed although it is stamped",
        lambda log: refused_as(log, letter(log, b"run_conflict"), b"no_timestamp"),
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
    (
        "I6",
        "hops_lead_home_once",
        "a hop that passes for something else",
        lambda log: [
            r._replace(headers=(*r.headers, ("bridge-hop", b"operation")))
            if r.role == "reroute"
            else r
            for r in log
        ],
    ),
    (
        "I8",
        "probes_are_answered_by_their_slot",
        "a probe accepted",
        setting("answer-verdicts", {"verdict": "probed"}, verdict="accepted"),
    ),
    (
        "I8",
        "probes_are_answered_by_their_slot",
        "a withdrawal that was only probed",
        setting("answer-verdicts", {"thread_id": "thread-ops"}, verdict="probed"),
    ),
    (
        "I8",
        "probes_are_answered_by_their_slot",
        "another slot answers a probe",
        moved("answer-verdicts", verdict="probed"),
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
