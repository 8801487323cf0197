"""Records of A2A as the field writes them, through whole cycles: what is asked and sent."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.field import files, tasks
from tests.unit.protocols.a2a_bench import Agents

AT = datetime(2026, 12, 1, 8, tzinfo=UTC)
COLLECTED_SECRET = "made-up-secret-0123456789"


def field(*values: Any) -> Agents:
    """The slot after these records."""
    agents = Agents({"endpoint": "https://agent.example/a2a"})
    agents.tells(*values)
    return agents


def both(built: Any, file: str) -> list[Any]:
    """What is built here, and the collected record of the same kind where that is at hand."""
    found = [pytest.param(built, id="built")]
    return [*found, pytest.param(files.value(file), id="collected")] if files.at_hand() else found


def message_of(agents: Agents) -> dict[str, Any]:
    (command,) = agents.commands()
    return dict(command["native"]["body"]["params"]["message"])


@pytest.mark.parametrize(
    "value", both(tasks.two_tools("task-1", AT), "p07_kagent_hitl_v1_two_tools.json")
)
def test_kagents_two_tools(value: Any) -> None:
    """Approved and rejected, in one message."""
    agents = field(value)
    first, second = agents.pending()
    assert [first["interrupt_id"], second["interrupt_id"]] == ["t-1", "t-2"]
    assert agents.answers(second, {"approved": False, "rejection_reason": "no"}) == "accepted"
    assert agents.answers(first, {"approved": True}) == "accepted"
    message = message_of(agents)
    assert message["extensions"] == [tasks.HITL]
    assert message["metadata"][tasks.HITL]["approvals"] == [
        {"id": "t-1", "approved": True},
        {"id": "t-2", "approved": False, "rejection_reason": "no"},
    ]


@pytest.mark.parametrize(
    ("value", "choice"),
    [
        pytest.param(*one.values, "prod" if one.id == "collected" else "green", id=one.id)
        for one in both(tasks.ask_user("task-1", AT), "p07_kagent_hitl_v1_ask_user.json")
    ],
)
def test_kagents_questions(value: Any, choice: str) -> None:
    """Both answered, in one message."""
    agents = field(value)
    which, when = agents.pending()
    agents.answers(which, [choice])
    agents.answers(when, "tonight")
    said = message_of(agents)["metadata"][tasks.HITL]
    assert (said["type"], said["id"]) == ("ask_user_response", "q-1")
    assert said["answers"] == [{"answer": [choice]}, {"answer": ["tonight"]}]


@pytest.mark.parametrize(
    "value",
    both(tasks.credential("task-1", AT), "p08_credential_request_as_input_required.json"),
)
def test_a_credential_request_as_input_required(value: Any) -> None:
    """Where to go is told, nothing is taken, and the secret is in no record nor in the state."""
    secrets = tasks.SECRET.encode(), COLLECTED_SECRET.encode()
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    assert any(secret in text for secret in secrets), "nothing to look for"
    agents = field(value)
    (approval,) = agents.pending()
    assert approval["kind"] == "authorization"
    assert approval["authorize_at"].encode() in text
    assert agents.answers(approval, {"code": "x"}) == "out_of_band"
    assert agents.answers(approval, status="cancelled") == "accepted"
    assert [one["native"]["method"] for one in agents.commands()] == ["CancelTask"]
    written = [
        (out.value or b"") + (out.key or b"") + str(out.headers).encode() for out in agents.out
    ]
    kept = [value or b"" for value in agents.bench.log.values()]
    assert not any(secret in one for one in (*written, *kept) for secret in secrets)


@pytest.mark.parametrize(
    "value",
    [
        *both(tasks.snake_update("task-18", AT), "p09_a2a_snake_case_status_update.json"),
        *both(tasks.snake_task("task-17", AT), "p09_a2a_snake_case_task.json"),
    ],
)
def test_snake_case_asks(value: Any) -> None:
    """Under the ids that camelCase gives."""
    text = value.decode() if isinstance(value, bytes) else json.dumps(value)
    agents = field(value)
    (approval,) = agents.pending()
    task = approval["thread_id"]
    assert task in ("task-17", "task-18")
    assert approval["run_id"] in ("m-17", "m-18", f"m-{task}")
    assert f'"{approval["run_id"]}"' in text
    assert approval["message"] == "Which warehouse?"
    agents.answers(approval, "north")
    assert f'"{message_of(agents)["contextId"]}"' in text


@pytest.mark.parametrize(
    "value",
    both(
        tasks.snake_update("task-9", AT, "TASK_STATE_COMPLETED"),
        "p09_a2a_snake_case_moved_on.json",
    ),
)
def test_snake_case_moves_on(value: Any) -> None:
    """The task's question is closed by it."""
    status = {"state": "TASK_STATE_INPUT_REQUIRED", "timestamp": "2026-11-30T07:00:00Z"}
    asks = {"statusUpdate": {"taskId": "task-9", "contextId": "ctx-9", "status": status}}
    agents = field(asks, value)
    assert [(one, why) for _, one, why in agents.ended()] == [("withdrawn", "task_ended")]


@pytest.mark.parametrize("state", tasks.ASKING)
def test_a_state_in_another_spelling_asks(state: str) -> None:
    """Case, dashes and underscores mean nothing."""
    agents = field(tasks.spelled("task-1", AT, state))
    assert [one["thread_id"] for one in agents.pending()] == ["task-1"]


@pytest.mark.parametrize("state", tasks.ENDING)
def test_a_state_in_another_spelling_ends(state: str) -> None:
    """One l or two."""
    agents = field(tasks.spelled("task-1", AT, "input-required"))
    agents.tells(tasks.spelled("task-1", AT.replace(hour=9), state))
    assert agents.ended() == [("m-task-1", "withdrawn", "task_ended")]


@pytest.mark.parametrize("state", tasks.UNKNOWN)
def test_an_unknown_state_is_put_aside(state: str | None) -> None:
    """And its question stays."""
    agents = field(tasks.spelled("task-1", AT, "input-required"))
    agents.tells(tasks.spelled("task-1", AT.replace(hour=9), state))
    assert [one["thread_id"] for one in agents.pending()] == ["task-1"]
    assert agents.letters() == ["unsupported"]


def test_collected_states_in_other_spellings() -> None:
    """They ask and end; one that is unknown or missing is put aside, and its question stays."""
    if not files.at_hand():
        return  # what is built here says the same, state by state
    agents = field(*files.lines("p10_a2a_state_spellings.jsonl"))
    assert [one["thread_id"] for one in agents.pending()] == ["task-21", "task-22"]
    assert agents.ended() == [("m-task-20", "withdrawn", "task_ended")]
    assert agents.letters() == ["unsupported", "unsupported"]
