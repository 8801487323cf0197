"""Violations to seed into the clean log of A2A and Genkit, as in `seeds`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bridge.audit.log import LogRecord
from tests.chaos.edits import (
    Records,
    body,
    changed,
    doubling,
    dropping,
    every,
    found,
    letter,
    setting,
    without,
)
from tests.chaos.seeds import Seed

REVIEW, PAID = {"thread_id": "task-review"}, {"thread_id": "session-paid"}
GIVEN_UP, DECLINED = {"thread_id": "task-given-up"}, {"thread_id": "session-declined"}
SIGN_IN, STUCK = {"thread_id": "task-sign-in"}, {"thread_id": "session-stuck"}
GATED = {"thread_id": "task-gated"}
LEFT = {"thread_id": "session-left"}


def sent(thread: dict[str, Any], edit: Callable[[Any], Any]) -> Callable[[Records], Records]:
    """Edits the native body of that thread's command."""

    def do(log: Records) -> Records:
        command = found(log, "resume-commands", **thread)
        return changed(log, command, lambda b: edit(b["native"]["body"]))

    return do


def told(log: Records, thread: str, state: str) -> LogRecord:
    """The input record in which that task shows this state."""

    def is_meant(value: dict[str, Any]) -> bool:
        update = value.get("statusUpdate", {})
        return bool(update.get("taskId") == thread and update["status"]["state"] == state)

    return next(r for r in log if is_meant(body(r)))


def untold(thread: str, state: str) -> Callable[[Records], Records]:
    return lambda log: without(log, told(log, thread, state))


def works_at_once(thread: str) -> Callable[[Records], Records]:
    """The task works at the very instant at which it asks for authorization."""

    def do(log: Records) -> Records:
        asked = body(told(log, thread, "TASK_STATE_AUTH_REQUIRED"))["statusUpdate"]["status"]
        works = told(log, thread, "TASK_STATE_WORKING")
        at = {"timestamp": asked["timestamp"]}
        return changed(log, works, lambda b: b["statusUpdate"]["status"].update(at))

    return do


def parts(request: Any) -> Any:
    return request["params"]["message"]["parts"]


def gate(request: Any) -> Any:
    (said,) = request["params"]["message"]["metadata"].values()
    return said["approvals"]


def resume(request: Any) -> Any:
    return request["data"]["resume"]


def answers_swapped(request: Any) -> None:
    first, second = (part["data"] for part in parts(request))
    first["response"], second["response"] = second["response"], first["response"]


A2A: list[Seed] = [
    ("I1", "one_command_per_run", "two commands", doubling("resume-commands", **REVIEW)),
    ("I2", "command_iff_resumed", "no command", dropping("resume-commands", **REVIEW)),
    (
        "I2",
        "closed_for_a_cause",
        "closed though the task did not go on",
        untold("task-sign-in", "TASK_STATE_WORKING"),
    ),
    (
        "I2",
        "closed_for_a_cause",
        "closed by work of the very instant of its question",
        works_at_once("task-sign-in"),
    ),
    (
        "I2",
        "a_run_that_moved_on_is_closed",
        "open though the task went on",
        dropping("approvals", **SIGN_IN, run_outcome="withdrawn"),
    ),
    (
        "I2",
        "nothing_stays_open_for_ever",
        "two questions of one task are open",
        every("approvals", {"thread_id": "task-again"}, run_outcome=None),
    ),
    ("I3", "entries_come_from_answers", "answers swapped", sent(REVIEW, answers_swapped)),
    (
        "I3",
        "entries_come_from_answers",
        "an answer to another item",
        sent(REVIEW, lambda b: parts(b)[0]["data"].update(id="call-other")),
    ),
    (
        "I3",
        "entries_come_from_answers",
        "an answer left out",
        sent(REVIEW, lambda b: parts(b).pop()),
    ),
    (
        "I3",
        "entries_come_from_answers",
        "50.0 became 50 on its way out",
        sent(REVIEW, lambda b: parts(b)[1]["data"]["response"].update(weight=50)),
    ),
    (
        "I3",
        "entries_come_from_answers",
        "a message to another task",
        sent(REVIEW, lambda b: b["params"]["message"].update(taskId="task-again")),
    ),
    (
        "I3",
        "entries_come_from_answers",
        "a task that was given up is sent a message",
        setting(
            "resume-commands",
            GIVEN_UP,
            native={"method": "SendMessage", "body": {"jsonrpc": "2.0", "params": {}}},
        ),
    ),
    (
        "I3",
        "entries_come_from_answers",
        "another task is cancelled",
        sent(GIVEN_UP, lambda b: b["params"].update(id="task-review")),
    ),
    *(
        ("I3", "entries_come_from_answers", what, sent(GATED, edit))
        for what, edit in (
            ("a tool approved that was cancelled", lambda b: gate(b)[1].update(approved=True)),
            ("a tool left out", lambda b: gate(b).pop()),
            ("a tool decided under another id", lambda b: gate(b)[0].update(id="call-x")),
            ("an extension not listed", lambda b: b["params"]["message"].pop("extensions")),
        )
    ),
    (
        "I4",
        "every_event_is_accounted_for",
        "one of two items never asked",
        lambda log: [
            r for r in log if body(r).get("interrupt_id") != "call-tag" or r.role != "approvals"
        ],
    ),
    (
        "I4",
        "every_approval_was_asked",
        "an item shown as another",
        every("approvals", {**REVIEW, "index": 0}, metadata={"item": {"id": "call-x"}}),
    ),
    (
        "I4",
        "every_approval_was_asked",
        "an approval of another agent's task",
        every("approvals", {"thread_id": "task-again"}, scope="review"),
    ),
    (
        "I8",
        "accepted_means_valid",
        "out_of_band said of an item",
        setting("answer-verdicts", {**REVIEW, "verdict": "conflict"}, verdict="out_of_band"),
    ),
    (
        "I3",
        "accepted_means_valid",
        "a sign-in answered",
        setting("answer-verdicts", {**SIGN_IN, "verdict": "out_of_band"}, verdict="accepted"),
    ),
    (
        "I9",
        "bad_records_are_set_aside",
        "an unknown state dropped",
        lambda log: without(log, letter(log, b"unsupported")),
    ),
]

GENKIT: list[Seed] = [
    ("I1", "one_command_per_run", "two commands", doubling("resume-commands", **PAID)),
    ("I2", "command_iff_resumed", "no command", dropping("resume-commands", **PAID)),
    (
        "I2",
        "a_run_that_moved_on_is_closed",
        "open though the session went on",
        dropping("approvals", **LEFT, run_outcome="withdrawn"),
    ),
    (
        "I2",
        "closed_for_a_cause",
        "given up though everything can be refused",
        every("approvals", STUCK, flags=[]),
    ),
    (
        "I2",
        "closed_for_a_cause",
        "given up and not put aside",
        lambda log: without(log, letter(log, b"no_refusal_configured")),
    ),
    (
        "I3",
        "entries_come_from_answers",
        "another payload",
        sent(PAID, lambda b: resume(b)["restart"][0]["metadata"].update(resumed={"approved": 1})),
    ),
    (
        "I3",
        "entries_come_from_answers",
        "50.0 became 50 in what was asked",
        sent(PAID, lambda b: resume(b)["restart"][0]["toolRequest"].update(input={"amount": 50})),
    ),
    (
        "I3",
        "entries_come_from_answers",
        "an answer to another call",
        sent(PAID, lambda b: resume(b)["respond"][0]["toolResponse"].update(ref="c-1")),
    ),
    (
        "I3",
        "entries_come_from_answers",
        "a tool that must respond restarts",
        sent(PAID, lambda b: resume(b)["restart"].append(resume(b).pop("respond")[0])),
    ),
    (
        "I3",
        "entries_come_from_answers",
        "a partial resume",
        sent(PAID, lambda b: resume(b).pop("respond")),
    ),
    (
        "I3",
        "entries_come_from_answers",
        "another snapshot",
        sent(PAID, lambda b: b["init"].update(snapshotId="snap-0")),
    ),
    (
        "I3",
        "entries_come_from_answers",
        "another refusal than is configured",
        sent(DECLINED, lambda b: resume(b)["respond"][0]["toolResponse"].update(output="no")),
    ),
    (
        "I4",
        "every_event_is_accounted_for",
        "one of two tools never asked",
        lambda log: [r for r in log if body(r).get("interrupt_id") != "ask-c-2"],
    ),
    (
        "I4",
        "every_approval_was_asked",
        "shown with another input",
        every("approvals", {**PAID, "index": 0}, metadata={"name": "pay", "input": {"amount": 5}}),
    ),
    (
        "I8",
        "accepted_means_valid",
        "a valid answer called invalid",
        setting("answer-verdicts", {**PAID, "verdict": "accepted"}, verdict="invalid_payload"),
    ),
    (
        "I9",
        "bad_records_are_set_aside",
        "a misspelt end dropped",
        lambda log: without(log, letter(log, b"unknown_outcome")),
    ),
]
