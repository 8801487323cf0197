"""Marks of other frameworks, signs of conventions that are not read, and other spellings."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.core.model import SourcePolicy
from tests.unit.protocols.a2a_bench import Agents
from tests.unit.protocols.a2a_events import adk_call, labels, only_asked, read, status, text

OTHER = "https://agents.example/extensions/ask/v2"
AGENTSTACK = "https://a2a-extensions.agentstack.beeai.dev"


def marked(prefix: str, name: str = "adk_request_confirmation", **more: Any) -> dict[str, Any]:
    """A long-running function call under the marks of another prefix."""
    part = adk_call("c-1", name)
    marks = {f"{prefix}_type": "function_call", f"{prefix}_is_long_running": True}
    return {**part, "metadata": {**marks, **more}}


def answer_part(agents: Agents) -> dict[str, Any]:
    (command,) = agents.commands()
    (part,) = command["native"]["body"]["params"]["message"]["parts"]
    return dict(part)


@pytest.mark.parametrize("prefix", ["adk", "kagent", "acme"])
def test_the_answer_bears_the_marks_of_its_question(prefix: str) -> None:
    """What is marked otherwise is no function call to whoever asked."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", marked(prefix)))
    (approval,) = agents.pending()
    assert (approval["interrupt_id"], approval["flags"]) == ("c-1", [])
    assert agents.answers(approval, "yes") == "invalid_payload"
    assert agents.answers(approval, {"confirmed": True}) == "accepted"
    data = {"id": "c-1", "name": "adk_request_confirmation", "response": {"confirmed": True}}
    assert answer_part(agents) == {
        "data": data,
        "metadata": {f"{prefix}_type": "function_response"},
    }


def test_marks_of_two_prefixes_are_both_answered() -> None:
    """kagent writes its own beside ADK's."""
    agents = Agents()
    beside: dict[str, Any] = {"adk_type": "function_call", "adk_is_long_running": True}
    agents.tells(status("INPUT_REQUIRED", marked("kagent", **beside)))
    agents.answers(agents.pending()[0], {"confirmed": False})
    assert answer_part(agents)["metadata"] == {
        "kagent_type": "function_response",
        "adk_type": "function_response",
    }


@pytest.mark.parametrize(
    ("prefix", "verdict"), [("kagent", "accepted"), ("adk", "invalid_payload")]
)
def test_kagent_takes_a_decision_as_well(prefix: str, verdict: str) -> None:
    """ADK itself does not know it."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", marked(prefix)))
    assert agents.answers(agents.pending()[0], {"decision_type": "approve"}) == verdict


@pytest.mark.parametrize("decision", [{"decision_type": "later"}, {"decision_type": 1}, {}])
def test_other_decisions_are_none_of_kagents(decision: Any) -> None:
    """They would run or reject nothing."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", marked("kagent")))
    assert agents.answers(agents.pending()[0], decision) == "invalid_payload"


# --- Signs of others ------------------------------------------------------------------------------


def unknown(**message: Any) -> dict[str, Any]:
    event = status("INPUT_REQUIRED", *message.pop("parts", [text()]))
    event["statusUpdate"]["status"]["message"].update(message)
    return event


SIGNS = [
    unknown(extensions=[OTHER], metadata={OTHER: {"ask": 1}}),
    unknown(extensions=[OTHER]),
    unknown(parts=[text(), {"data": {"ask": 1}, "metadata": {"acme_type": "approval_request"}}]),
    unknown(
        parts=[{"data": {}, "metadata": {"adk_type": "question", "adk_is_long_running": True}}]
    ),
]


@pytest.mark.parametrize("event", SIGNS, ids=["metadata", "listed", "mark", "adk's own mark"])
def test_signs_of_another_dialect_are_flagged_and_counted(event: Any) -> None:
    """Any answer is taken, and the agent may take none of it: whoever answers is told."""
    agents = Agents()
    agents.tells(event)
    (approval,) = agents.pending()
    assert approval["flags"] == ["unknown_dialect"]
    assert agents.bench.counts["lenient", "unknown_dialect"] == 1
    assert agents.answers(approval, "main") == "accepted"


@pytest.mark.parametrize("event", SIGNS, ids=["metadata", "listed", "mark", "adk's own mark"])
def test_a_source_may_refuse_what_its_agents_cannot_be_answered(event: Any) -> None:
    """With a letter that says what to set."""
    agents = Agents(policy=SourcePolicy(refuse_unknown_dialect=True))
    agents.tells(event)
    assert (agents.pending(), agents.letters()) == ([], ["unsupported"])
    (letter,) = [one for one in agents.out if one.topic == "dead-letters"]
    assert b"unknown_dialect" in dict(letter.headers)["bridge-detail"]


@pytest.mark.parametrize(
    "event",
    [
        unknown(),
        unknown(metadata={OTHER: {"trace": 1}}),
        unknown(parts=[text(), {"data": {"n": 1}, "metadata": {"mime_type": "application/json"}}]),
        unknown(parts=[text(), {"data": {}, "metadata": {"adk_type": "function_response"}}]),
        unknown(parts=[adk_call("c-1")], extensions=[OTHER]),
        unknown(extensions=[f"{AGENTSTACK}/ui/form_request/v1"]),
    ],
    ids=["words", "trace", "media type", "a call's response", "items", "known"],
)
def test_what_is_read_or_asks_nothing_is_no_sign(event: Any) -> None:
    """Metadata that nobody lists, media types, calls that do not wait, and known extensions."""
    reading = read(event)
    assert all(question.flags == () for question in only_asked(reading).questions)
    assert labels(reading) == set()


# --- Credentials ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "event",
    [
        status("INPUT_REQUIRED", adk_call("c-1", "adk_request_credential", authConfig={})),
        status("INPUT_REQUIRED", marked("kagent", "kagent_request_credential")),
        status("INPUT_REQUIRED", text(), metadata={f"{AGENTSTACK}/auth/secrets/v1": {"x": 1}}),
        status("INPUT_REQUIRED", text(), metadata={f"{AGENTSTACK}/auth/oauth/v1": {"x": 1}}),
        status("INPUT_REQUIRED", adk_call("c-0"), adk_call("c-1", "adk_request_credential")),
    ],
    ids=["adk", "kagent", "secrets", "oauth", "beside another"],
)
def test_what_asks_for_a_credential_is_an_authorization(event: Any) -> None:
    """What is asked decides, not the state: no credential comes by a topic."""
    agents = Agents(policy=SourcePolicy(default_ttl=1_000))
    agents.tells(event)
    (approval,) = agents.pending()
    assert (approval["kind"], "expires_at" in approval) == ("authorization", False)
    assert agents.answers(approval, {"token": "x"}) == "out_of_band"
    agents.tells(status("WORKING", at="2026-10-06T09:00:05Z"))
    assert agents.ended() == [("q1", "withdrawn", "moved_on")]


def test_a_tool_of_the_users_that_is_called_so_is_a_question() -> None:
    """Only ADK's own call is sure to ask for a credential."""
    event = status("INPUT_REQUIRED", adk_call("c-1", "list_credential"))
    assert only_asked(read(event)).questions[0].kind == "input"


# --- Spellings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "state", ["input_required", "Input-Required", "TASK_STATE_INPUT-REQUIRED", "inputRequired", 6]
)
def test_a_state_is_read_however_it_is_spelt(state: Any) -> None:
    """Case, `_` and `-` say nothing."""
    event = status("INPUT_REQUIRED", text())
    event["statusUpdate"]["status"]["state"] = state
    assert only_asked(read(event)).run_id == "q1"


@pytest.mark.parametrize("state", ["cancelled", "Cancelled", "CANCELED", "task_state_cancelled"])
def test_an_end_is_read_however_it_is_spelt(state: str) -> None:
    """It closes the question, counted as a deviation."""
    agents = Agents()
    end = status("CANCELED", at="2026-10-06T09:00:05Z")
    end["statusUpdate"]["status"]["state"] = state
    agents.tells(status("INPUT_REQUIRED", text()), end)
    assert agents.ended() == [("q1", "withdrawn", "task_ended")]
    assert agents.bench.counts["lenient", "state_spelling"] == 1


def snake(value: Any) -> Any:
    names = {"statusUpdate": "status_update", "taskId": "task_id", "contextId": "context_id"}
    names |= {"messageId": "message_id", "artifactUpdate": "artifact_update"}
    if isinstance(value, dict):
        return {names.get(name, name): snake(member) for name, member in value.items()}
    return [snake(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "event",
    [
        status("INPUT_REQUIRED", text()),
        status("INPUT_REQUIRED", adk_call("c-1"), adk_call("c-2")),
        {"jsonrpc": "2.0", "id": 1, "result": status("INPUT_REQUIRED", text())},
        {"tasks": [{"id": "t", **status("INPUT_REQUIRED", text())["statusUpdate"]}]},
        status("COMPLETED"),
        {"kind": "status-update", **status("WORKING")["statusUpdate"]},
    ],
    ids=["status", "items", "envelope", "page", "end", "bare"],
)
def test_names_in_snake_case_mean_the_same(event: Any) -> None:
    """The same ids and the same moves, counted."""
    usual, other = read(event), read(snake(event))
    assert other.inputs == usual.inputs
    assert labels(other) == {"snake_case"}


def test_an_artifact_in_snake_case_keeps_its_items() -> None:
    """LangGraph's items, by way of a relay that renames."""
    artifact = {"name": "Interrupt", "parts": [{"data": {"id": "a" * 32, "value": "Go on?"}}]}
    agents = Agents()
    agents.tells({"artifact_update": {"task_id": "task-1", "artifact": artifact}})
    agents.tells(snake(status("INPUT_REQUIRED")))
    assert [one["message"] for one in agents.pending()] == ["Go on?"]
