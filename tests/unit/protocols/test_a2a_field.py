"""Records of A2A as the field writes them, through whole cycles: what is asked and sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import field as vectors
from tests.unit.protocols.a2a_bench import Agents

HITL = "https://kagent.dev/extensions/hitl/v1"
CANARY = b"made-up-secret-0123456789"


def field(name: str) -> Agents:
    """The slot after the file's records; one record each."""
    values = vectors.lines(name) if name.endswith(".jsonl") else [vectors.value(name)]
    agents = Agents({"endpoint": "https://agent.example/a2a"})
    agents.tells(*values)
    return agents


def message_of(agents: Agents) -> dict[str, Any]:
    (command,) = agents.commands()
    return dict(command["native"]["body"]["params"]["message"])


def test_kagents_two_tools() -> None:
    """Approved and rejected, in one message."""
    agents = field("p07_kagent_hitl_v1_two_tools.json")
    first, second = agents.pending()
    assert [first["interrupt_id"], second["interrupt_id"]] == ["t-1", "t-2"]
    assert agents.answers(second, {"approved": False, "rejection_reason": "no"}) == "accepted"
    assert agents.answers(first, {"approved": True}) == "accepted"
    message = message_of(agents)
    assert message["extensions"] == [HITL]
    assert message["metadata"][HITL]["approvals"] == [
        {"id": "t-1", "approved": True},
        {"id": "t-2", "approved": False, "rejection_reason": "no"},
    ]


def test_kagents_questions() -> None:
    """Both answered, in one message."""
    agents = field("p07_kagent_hitl_v1_ask_user.json")
    which, when = agents.pending()
    agents.answers(which, ["prod"])
    agents.answers(when, "tonight")
    said = message_of(agents)["metadata"][HITL]
    assert (said["type"], said["id"]) == ("ask_user_response", "q-1")
    assert said["answers"] == [{"answer": ["prod"]}, {"answer": ["tonight"]}]


def test_a_credential_request_as_input_required() -> None:
    """Where to go is told, nothing is taken, and the secret is in no record nor in the state."""
    agents = field("p08_credential_request_as_input_required.json")
    (approval,) = agents.pending()
    assert approval["kind"] == "authorization"
    address = "https://login.example.com/o/authorize?client_id=client-77&state=xyz"
    assert approval["authorize_at"] == address
    assert agents.answers(approval, {"code": "x"}) == "out_of_band"
    assert agents.answers(approval, status="cancelled") == "accepted"
    assert [one["native"]["method"] for one in agents.commands()] == ["CancelTask"]
    for out in agents.out:
        assert CANARY not in (out.value or b"") + (out.key or b"") + str(out.headers).encode()
    assert not any(CANARY in (value or b"") for value in agents.bench.log.values())


@pytest.mark.parametrize(
    ("name", "task", "run"),
    [
        ("p09_a2a_snake_case_status_update.json", "task-18", "m-18"),
        ("p09_a2a_snake_case_task.json", "task-17", "m-17"),
    ],
)
def test_snake_case_asks(name: str, task: str, run: str) -> None:
    """Under the ids that camelCase gives."""
    agents = field(name)
    (approval,) = agents.pending()
    assert (approval["thread_id"], approval["run_id"]) == (task, run)
    assert approval["message"] == "Which warehouse?"
    agents.answers(approval, "north")
    assert message_of(agents)["contextId"] == f"ctx-{task[-2:]}"


def test_snake_case_moves_on() -> None:
    """The task's question is closed by it."""
    agents = field("p09_a2a_snake_case_moved_on.json")
    moved = vectors.value("p09_a2a_snake_case_moved_on.json")
    status = {"state": "TASK_STATE_INPUT_REQUIRED", "timestamp": "2026-11-30T08:00:00Z"}
    asks = {"statusUpdate": {"taskId": "task-9", "contextId": "ctx-9", "status": status}}
    agents.tells(json.dumps(asks), moved)
    assert [(one, why) for _, one, why in agents.ended()] == [("withdrawn", "task_ended")]


def test_states_in_other_spellings() -> None:
    """They ask and end; one that is unknown or missing is put aside, and its question stays."""
    agents = field("p10_a2a_state_spellings.jsonl")
    assert [one["thread_id"] for one in agents.pending()] == ["task-21", "task-22"]
    assert agents.ended() == [("m-task-20", "withdrawn", "task_ended")]
    assert agents.letters() == ["unsupported", "unsupported"]
