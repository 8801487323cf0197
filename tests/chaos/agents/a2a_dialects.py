"""One status in every dialect that A2A agents write: 1.0 and 0.3, in all their wrappers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.chaos.agents.a2a_items import KAGENT_URI
from tests.chaos.agents.instants import rfc3339
from tests.chaos.agents.play import Moment, packed

Body = dict[str, Any]
_NUMBERS = {"INPUT_REQUIRED": 6, "AUTH_REQUIRED": 8}


@dataclass(frozen=True, slots=True)
class Said:
    """A status of a task; the message's parts are text or data, as 1.0 writes them."""

    task: str
    state: str
    at: Moment
    message_id: str | None = None
    parts: tuple[Body, ...] = ()
    metadata: Body | None = None

    @property
    def context(self) -> str:
        return f"context-of-{self.task}"


def written(said: Said, dialect: str) -> bytes:
    return packed(DIALECTS[dialect](said))


# --- The status itself ----------------------------------------------------------------------------


def _status(said: Said, state: str | int, message: Body | None) -> Body:
    status: Body = {"state": state, "timestamp": rfc3339(said.at)}
    return status if message is None else {**status, "message": message}


def _status_1_0(said: Said) -> Body:
    return _status(said, f"TASK_STATE_{said.state}", _message(said, "ROLE_AGENT", parts=said.parts))


def _status_0_3(said: Said) -> Body:
    parts = [{"kind": "text" if "text" in part else "data", **part} for part in said.parts]
    message = _message(said, "agent", kind="message", parts=parts)
    return _status(said, said.state.lower().replace("_", "-"), message)


def _status_0_3_proto(said: Said) -> Body:
    boxed = [
        {**part, "data": {"data": part["data"]}} if "data" in part else part for part in said.parts
    ]
    return _status(said, f"TASK_STATE_{said.state}", _message(said, "ROLE_AGENT", content=boxed))


def _message(said: Said, role: str, **members: Any) -> Body | None:
    if said.message_id is None:
        return None
    about = {"messageId": said.message_id, "taskId": said.task, "contextId": said.context}
    metadata: Body = {} if said.metadata is None else {"metadata": said.metadata}
    if KAGENT_URI in metadata.get("metadata", {}):
        metadata["extensions"] = [KAGENT_URI]
    return {**about, "role": role, **members, **metadata}


# --- What stands around it ------------------------------------------------------------------------


def _update(said: Said, status: Body, **members: Any) -> Body:
    return {"taskId": said.task, "contextId": said.context, "status": status, **members}


def _task(said: Said, status: Body, **members: Any) -> Body:
    return {"id": said.task, "contextId": said.context, "status": status, **members}


def _reply(result: Body) -> Body:
    return {"jsonrpc": "2.0", "id": 7, "result": result}


def _with_history(said: Said) -> Body:
    status = _status_1_0(said)
    history = [status["message"]] if "message" in status else []
    return {"task": _task(said, status, history=history)}


def _as_number(said: Said) -> Body:
    status = _status_1_0(said)
    return {"statusUpdate": _update(said, status | {"state": _NUMBERS.get(said.state, 2)})}


DIALECTS: Final[Mapping[str, Callable[[Said], Body]]] = {
    "1.0 update": lambda s: {"statusUpdate": _update(s, _status_1_0(s))},
    "1.0 task": _with_history,
    "1.0 reply": lambda s: _reply({"statusUpdate": _update(s, _status_1_0(s))}),
    "1.0 get": lambda s: _reply(_task(s, _status_1_0(s))),
    "1.0 page": lambda s: _reply({"tasks": [_task(s, _status_1_0(s))], "nextPageToken": ""}),
    "1.0 number": _as_number,
    "0.3 update": lambda s: _update(s, _status_0_3(s), kind="status-update", final=True),
    "0.3 reply": lambda s: _reply(_task(s, _status_0_3(s), kind="task")),
    "0.3 rest": lambda s: {"statusUpdate": _update(s, _status_0_3_proto(s), final=False)},
}
"""Whole statuses; what is asked is the same in each."""


def hybrid(said: Said) -> bytes:
    """LangGraph's own mix: 0.3's wrapper, 1.0's state, and no message."""
    status = {"state": f"TASK_STATE_{said.state}", "timestamp": rfc3339(said.at)}
    status["timestamp"] = status["timestamp"].replace("Z", "000+00:00")
    return packed(_update(said, status, kind="status-update", final=True))


def artifact(said: Said, name: str, *data: Body) -> bytes:
    """An artifact of the task, in 0.3's wrapper."""
    parts = [{"kind": "data", "data": each} for each in data]
    body = {"artifactId": f"{name}-{said.task}", "name": name, "parts": parts}
    update = {"taskId": said.task, "contextId": said.context, "artifact": body}
    return packed({"kind": "artifact-update", **update, "append": False, "lastChunk": True})
