"""Dialects of A2A as frameworks and hand-written servers speak them, by their names."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final

from tests.field.sent import NOTHING, Sent, asks, told

HITL: Final = "https://kagent.dev/extensions/hitl/v1"
SECRET: Final = "not-for-any-topic-4711"
SIGN_IN: Final = "https://login.example.com/o/authorize?client_id=bridge-tests&state=s-1"


def status(
    task: str, at: datetime, *parts: Any, state: Any = "INPUT_REQUIRED", **message: Any
) -> Any:
    """A 1.0 status update that asks, its message under the id `m-TASK`."""
    said = {
        "messageId": f"m-{task}",
        "taskId": task,
        "contextId": f"ctx-{task}",
        "role": "ROLE_AGENT",
        "parts": list(parts) or [{"text": "Which warehouse?"}],
        **message,
    }
    told_of = {"state": "TASK_STATE_INPUT_REQUIRED", "timestamp": _instant(at), "message": said}
    return {"statusUpdate": {"taskId": task, "contextId": f"ctx-{task}", "status": told_of}}


def two_tools(task: str, at: datetime) -> Any:
    """kagent asks for two approvals in one message."""
    tools = [
        {"id": "t-1", "call_id": "c-1", "name": "drain_node", "args": {"node": "n-7"}},
        {"id": "t-2", "call_id": "c-2", "name": "delete_pod", "args": {"pod": "web-3"}},
    ]
    asked = {"type": "tool_approval_request", "hint": "Two changes", "tools": tools}
    return status(task, at, extensions=[HITL], metadata={HITL: asked})


def ask_user(task: str, at: datetime) -> Any:
    """kagent asks a person two questions in one message."""
    questions = [
        {"question": "Which cluster?", "choices": ["blue", "green"]},
        {"question": "When?"},
    ]
    asked = {"type": "ask_user_request", "id": "q-1", "questions": questions}
    return status(task, at, extensions=[HITL], metadata={HITL: asked})


def credential(task: str, at: datetime) -> Any:
    """google-adk asks for a credential, the client's secret beside the question."""
    scheme = {"type": "oauth2", "flows": {"authorizationCode": {"tokenUrl": "https://x.example"}}}
    client = {"clientId": "bridge-tests", "clientSecret": SECRET}
    config = {
        "authScheme": scheme,
        "rawAuthCredential": {"authType": "oauth2", "oauth2": client},
        "exchangedAuthCredential": {"authType": "oauth2", "oauth2": {**client, "authUri": SIGN_IN}},
    }
    args = {"functionCallId": "c-1", "authConfig": config}
    call = {"id": "adk-1", "name": "adk_request_credential", "args": args}
    marks = {"adk_type": "function_call", "adk_is_long_running": True}
    return status(task, at, {"data": call, "metadata": marks})


def snake_update(task: str, at: datetime, state: Any = 6) -> Any:
    """Protobuf's own names, the state as its number."""
    said = {
        "message_id": f"m-{task}",
        "role": "ROLE_AGENT",
        "parts": [{"text": "Which warehouse?"}],
    }
    told_of = {"state": state, "timestamp": _instant(at), "message": said}
    if state == "TASK_STATE_COMPLETED":
        told_of.pop("message")
    update = {"task_id": task, "context_id": f"ctx-{task}", "status": told_of}
    return {"status_update": update}


def snake_task(task: str, at: datetime) -> Any:
    """A bare task in those names."""
    update = snake_update(task, at, "TASK_STATE_INPUT_REQUIRED")["status_update"]
    return {"id": task, "context_id": f"ctx-{task}", "status": update["status"]}


def spelled(task: str, at: datetime, state: Any) -> Any:
    """A 0.3 update whose state is written like this."""
    part = {"kind": "text", "text": "Which warehouse?"}
    said = {"kind": "message", "role": "agent", "messageId": f"m-{task}", "parts": [part]}
    told_of = {"state": state, "timestamp": _instant(at), "message": said}
    about = {"kind": "status-update", "taskId": task, "contextId": f"ctx-{task}", "final": True}
    return {**about, "status": told_of}


ASKING: Final = ("input-required", "input_required", "INPUT_REQUIRED", "Input-Required")
ENDING: Final = ("canceled", "cancelled", "CANCELLED", "TASK_STATE_CANCELLED", "Completed")
UNKNOWN: Final = ("UNRECOGNIZED", "waiting", None)


def rows(at: datetime) -> list[Sent]:
    """Each dialect on a task of its own."""
    found: list[tuple[Any, frozenset[str]]] = [
        (two_tools("task-tools", at), asks("task-tools", "t-1", "t-2")),
        (ask_user("task-user", at), asks("task-user", "q-1/0", "q-1/1")),
        (
            credential("task-credential", at),
            asks("task-credential", "m-task-credential", kind="authorization"),
        ),
        (snake_update("task-snake", at), asks("task-snake", "m-task-snake")),
        (snake_task("task-snake-2", at), asks("task-snake-2", "m-task-snake-2")),
        (snake_update("task-snake-3", at, "TASK_STATE_COMPLETED"), NOTHING),
    ]
    for number, state in enumerate(ASKING):
        task = f"task-asks-{number}"
        found.append((spelled(task, at, state), asks(task, f"m-{task}")))
    for number, state in enumerate(ENDING):
        found.append((spelled(f"task-ends-{number}", at, state), NOTHING))
    for number, unread in enumerate(UNKNOWN):
        found.append((spelled(f"task-unknown-{number}", at, unread), told("letter unsupported")))
    return [Sent("a2a", json.dumps(value).encode(), finds) for value, finds in found]


def _instant(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}Z"
