"""A2A tasks through whole cycles: what is asked, how it is answered, and how it ends."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.core.model import SourcePolicy
from tests import vectors
from tests.unit.protocols.a2a_bench import Agents
from tests.unit.protocols.a2a_events import (
    adk_call,
    hybrid,
    interrupt_artifact,
    status,
    strands,
    text,
)

A, B = "a" * 32, "b" * 32
LATER = "2026-10-06T09:00:05Z"


def params(command: dict[str, Any]) -> dict[str, Any]:
    return dict(command["native"]["body"]["params"])


def test_a_question_is_answered_with_one_message() -> None:
    """From the status to the request, under the ids of the task."""
    agents = Agents({"endpoint": "https://agent.example/a2a"})
    agents.tells(status("INPUT_REQUIRED", text()))
    (approval,) = agents.pending()
    assert (approval["message"], approval["kind"]) == ("Which branch?", "input")
    assert agents.answers(approval, "main") == "accepted"
    (command,) = agents.commands()
    native = command["native"]
    assert (native["method"], native["endpoint"]) == ("SendMessage", "https://agent.example/a2a")
    message = params(command)["message"]
    assert (message["taskId"], message["contextId"]) == ("task-1", "ctx-1")
    assert message["parts"] == [{"text": "main"}]
    assert message["messageId"] == command["resume_run_id"]


def test_an_authorization_takes_no_answer_and_ends_when_the_task_goes_on() -> None:
    """Nobody can resolve it here; no command is ever sent for it."""
    agents = Agents(policy=SourcePolicy(default_ttl=10_000))
    agents.tells(status("AUTH_REQUIRED", text("Approve at https://auth.example/x?u=1.")))
    (approval,) = agents.pending()
    assert approval["kind"] == "authorization"
    assert approval["authorize_at"] == "https://auth.example/x?u=1"
    assert "expires_at" not in approval
    assert agents.answers(approval, "token-123") == "out_of_band"
    agents.tells(status("WORKING", at=LATER))
    assert agents.ended() == [("q1", "withdrawn", "moved_on")]
    assert agents.commands() == []


def test_a_cancelled_authorization_cancels_its_task_at_once() -> None:
    """The one answer that it takes."""
    agents = Agents()
    agents.tells(status("AUTH_REQUIRED", text("Go and sign in")))
    (approval,) = agents.pending()
    assert agents.answers(approval, status="cancelled") == "accepted"
    (command,) = agents.commands()
    assert command["native"]["method"] == "CancelTask"
    assert params(command) == {"id": "task-1", "metadata": {"reason": "cancelled"}}


def test_items_kept_from_an_artifact_are_what_the_status_asks() -> None:
    """LangGraph's status has no message: artifact and status make one run of questions."""
    agents = Agents()
    agents.tells(interrupt_artifact(A, B), hybrid())
    first, second = agents.pending()
    assert [first["interrupt_id"], second["interrupt_id"]] == [A, B]
    assert first["message"] == f"{A}?"
    assert agents.answers(second, {"branch": "main"}) == "accepted"
    assert agents.commands() == []
    assert agents.answers(first, 12) == "accepted"
    (command,) = agents.commands()
    (part,) = params(command)["message"]["parts"]
    assert part == {"data": {"resume": {A: 12, B: {"branch": "main"}}}}


def test_kept_items_are_for_one_status_only() -> None:
    """The next question of the task is not taken for the last one."""
    agents = Agents()
    agents.tells(interrupt_artifact(A), hybrid())
    agents.answers(agents.pending()[0], "yes")
    agents.tells(hybrid(at=LATER))
    (approval,) = agents.pending()
    assert approval["interrupt_id"] != A


def test_other_kept_items_are_a_new_question() -> None:
    """The state stayed the same while another interrupt came."""
    agents = Agents()
    agents.tells(interrupt_artifact(A), hybrid(), interrupt_artifact(B), hybrid(at=LATER))
    (approval,) = agents.pending()
    assert approval["interrupt_id"] == B
    assert [status for _, status, _ in agents.ended()] == ["superseded"]


def test_null_is_no_answer_to_langgraph() -> None:
    """It would take it for none; the question stays open."""
    agents = Agents()
    agents.tells(interrupt_artifact(A), hybrid())
    assert agents.answers(agents.pending()[0]) == "invalid_payload"
    assert len(agents.pending()) == 1


def test_adk_asking_again_without_its_calls_still_asks_for_them() -> None:
    """One question, the earlier items, the new text before what each of them asks."""
    agents = Agents()
    calls = adk_call("c-1"), adk_call("c-2", message="Which account?")
    agents.tells(status("INPUT_REQUIRED", *calls))
    words = "It was not provided a function response for the function call."
    agents.tells(status("INPUT_REQUIRED", text(words), message_id="q2", at=LATER))
    first, second = agents.pending()
    assert [first["interrupt_id"], second["interrupt_id"]] == ["c-1", "c-2"]
    assert (first["message"], second["message"]) == (words, f"{words}\nWhich account?")
    assert {run for run, _, _ in agents.ended()} == {"q1"}
    agents.answers(first, {"ok": 1})
    agents.answers(second, {"ok": 2})
    parts = params(agents.commands()[0])["message"]["parts"]
    assert [part["data"]["id"] for part in parts] == ["c-1", "c-2"]


def test_an_older_text_is_not_adk_asking_again() -> None:
    """It comes late and is published as what it asked, superseded by the calls."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", adk_call("c1"), message_id="q2", at=LATER))
    agents.tells(status("INPUT_REQUIRED", text("Which branch?")))
    assert [view["interrupt_id"] for view in agents.pending()] == ["c1"]
    assert agents.ended() == [("q1", "superseded", "superseded")]
    (late,) = [view for view in agents.latest.values() if view["run_id"] == "q1"]
    assert (late["interrupt_id"], late["message"]) == ("q1", "Which branch?")


def test_one_cancelled_item_gives_up_the_task_when_all_are_settled() -> None:
    """The answer of the other goes nowhere, and says so."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", strands("i-1", "i-2")))
    first, second = agents.pending()
    agents.answers(first, status="cancelled")
    assert agents.commands() == []
    agents.answers(second, "yes")
    (command,) = agents.commands()
    assert command["native"]["method"] == "CancelTask"
    reasons = [agents.latest[one["approval_id"]]["closed_reason"] for one in (first, second)]
    assert reasons == ["cancelled", "sibling_abandoned"]


def test_an_expired_question_cancels_its_task() -> None:
    """The protocol has no deadline; the source's is the bridge's own."""
    agents = Agents(policy=SourcePolicy(default_ttl=10_000))
    agents.tells(status("INPUT_REQUIRED", text()))
    agents.waits(11)
    (command,) = agents.commands()
    assert command["completed_by"] == "expiry"
    assert params(command)["metadata"] == {"reason": "expired"}


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("WORKING", "moved_on"),
        ("COMPLETED", "task_ended"),
        ("CANCELED", "task_ended"),
        ("REJECTED", "run_failed"),
        ("FAILED", "run_failed"),
    ],
)
def test_a_task_that_goes_on_closes_its_question(state: str, reason: str) -> None:
    """Whatever it goes on to."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", text()), status(state, at=LATER))
    assert agents.ended() == [("q1", "withdrawn", reason)]


@pytest.mark.parametrize("state", ["COMPLETED", "CANCELED", "REJECTED", "FAILED"])
def test_a_task_at_its_end_asks_nothing_any_more(state: str) -> None:
    """A question that comes afterwards is published once, as withdrawn."""
    agents = Agents()
    late = status("INPUT_REQUIRED", text("And now?"), message_id="q2", at=LATER)
    agents.tells(status("INPUT_REQUIRED", text()), status(state), late, late)
    assert agents.pending() == []
    assert agents.ended()[1] == ("q2", "withdrawn", "task_ended")
    assert agents.letters() == []


@pytest.mark.parametrize(("state", "failed"), [("FAILED", 1), ("REJECTED", 1), ("COMPLETED", 0)])
def test_an_answer_that_its_task_did_not_survive_is_counted(state: str, failed: int) -> None:
    """Once, and whether or not the task was seen at work in between."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", text()))
    agents.answers(agents.pending()[0], "main")
    end = status(state, at=LATER)
    agents.tells(status("WORKING"), end, end)
    assert agents.bench.counts["resume_failed", "agents"] == failed


def test_a_page_reconciles_what_was_missed() -> None:
    """The question of one task is closed by its snapshot, that of another opened."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", text(), task="task-1"))
    done = {"id": "task-1", "status": {"state": "TASK_STATE_COMPLETED", "timestamp": LATER}}
    said = status("INPUT_REQUIRED", text(), message_id="q9")["statusUpdate"]["status"]
    agents.tells({"tasks": [done, {"id": "task-2", "status": said}]}, key=None)
    (approval,) = agents.pending()
    assert approval["thread_id"] == "task-2"
    assert agents.ended() == [("q1", "withdrawn", "task_ended")]


def test_a_refused_answer_ends_the_wait_for_its_run() -> None:
    """The agent's error bears our request's id; another question of the task stays open."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", text(), at=None))
    agents.answers(agents.pending()[0], "main")
    assert agents.bench.ledger.unconfirmed == 1
    agents.tells(status("INPUT_REQUIRED", text("And now?"), message_id="q2", at=None))
    request_id = agents.commands()[0]["native"]["body"]["id"]
    agents.tells({"jsonrpc": "2.0", "id": request_id, "error": {"code": -32001, "message": "no"}})
    assert agents.bench.ledger.unconfirmed == 0
    assert [one["run_id"] for one in agents.pending()] == ["q2"]


@pytest.mark.parametrize("nth", ["2", None])
def test_the_next_question_shows_that_the_answer_arrived(nth: str | None) -> None:
    """The answered one told of again does not; a newer one does, by its generation or time."""
    agents = Agents()
    first = {} if nth is None else {"generation": "1"}
    agents.tells(status("INPUT_REQUIRED", text(), **first))
    agents.answers(agents.pending()[0], "main")
    agents.tells(status("INPUT_REQUIRED", text(), **first))
    assert agents.bench.ledger.unconfirmed == 1
    later = {"at": LATER} if nth is None else {"generation": nth}
    agents.tells(status("INPUT_REQUIRED", text("And now?"), message_id="q2", **later))
    assert agents.bench.ledger.unconfirmed == 0
    assert [one["run_id"] for one in agents.pending()] == ["q2"]


def test_a_late_second_delivery_of_an_answer_is_no_second_command() -> None:
    """Agents execute again even for the same message id."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", text()))
    (approval,) = agents.pending()
    agents.answers(approval, "main")
    agents.tells(status("INPUT_REQUIRED", text("And now?"), message_id="q2", at=LATER))
    assert agents.answers(approval, "main") == "duplicate"
    assert agents.answers(approval, "other") == "late"
    assert len(agents.commands()) == 1


# --- The constructed cases ------------------------------------------------------------------------


@pytest.mark.parametrize("case", vectors.made("a2a", "sequences"), ids=lambda case: case["name"])
def test_a_sequence_ends_as_it_must(case: dict[str, Any]) -> None:
    """Each event is one record; what is open at its end, what closed, what was put aside."""
    agents = Agents()
    for event in case["events"]:
        sender = event.pop("_agent", None)
        agents.tells(event, headers=[("a2a-agent", sender.encode())] if sender else [])
    assert [one["run_id"] for one in agents.pending()] == case["open"]
    assert agents.ended() == [tuple(closed) for closed in case["closed"]]
    assert agents.letters() == case["letters"]
    assert agents.commands() == []


# Of sequences collected elsewhere: what is open at the end, and what closed.
COLLECTED: dict[str, tuple[list[str], list[tuple[str, str, str]]]] = {
    "no-message": (["at:2026-10-06T09:00:00.5Z"], []),
    "repeat-different-message-ids": (["q2"], [("q1", "superseded", "superseded")]),
    "two-prompts-one-task": (["q2"], [("q1", "superseded", "superseded")]),
    "late-working-reordered": (["q1"], []),
    "no-timestamp": (["record:agents.tasks/0/0"], []),
    "task-without-messageId-in-status": (["record:agents.tasks/0/0"], []),
    "completed-after-auth-no-message": ([], [("a1", "withdrawn", "task_ended")]),
    "auth-then-input": (["q1"], [("a1", "superseded", "superseded")]),
    "terminal-regress": ([], [("q1", "withdrawn", "task_ended")]),
    "final-true-with-input-required": (["q1"], []),
    "hybrid-dialect": (["at:2026-11-29T19:08:52.323295Z"], []),
    "cancelled-double-l": ([], [("q1", "withdrawn", "task_ended")]),
    "numeric-enum": (["record:agents.tasks/0/0"], []),
    "unspecified-state-omitted": ([], []),
    "jsonrpc-envelope": (["q1"], []),
    "jsonrpc-error": ([], []),
    "same-task-id-two-agents": (["q1", "q1"], []),
    "canceled-keeps-question-message": ([], [("q1", "withdrawn", "task_ended")]),
    "generation-gap": (["q1"], []),
    "message-only": ([], []),
    "failed-after-bad-answer": ([], [("q1", "withdrawn", "run_failed")]),
    "artifact-after-input": (["q1"], []),
}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=str(case["id"]))
        for case in vectors.collected_json("a2a/edge_cases.jsonl")
        if case["id"] in COLLECTED
    ]
    or [pytest.param({"id": "none", "input": []}, id="none collected")],
)
def test_a_collected_sequence_ends_as_expected(case: dict[str, Any]) -> None:
    """As above; the words of such a file are held to what is published."""
    agents = Agents()
    for event in case["input"]:
        source = event.pop("_source", None)
        agents.tells(event, headers=[("a2a-agent", source.encode())] if source else [])
    still_open, closed = COLLECTED.get(case["id"], ([], []))
    assert [one["run_id"] for one in agents.pending()] == still_open
    assert agents.ended() == closed
    unread = ["unsupported"] if case["id"] == "unspecified-state-omitted" else []
    assert agents.letters() == unread
