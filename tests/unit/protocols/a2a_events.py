"""Builders of A2A events, and the recorded and hand-made ones with what they say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bridge.core.model import Interrupted, Limits, Origin
from bridge.protocols.a2a import A2a
from bridge.protocols.interface import Reading, Record
from tests import vectors

ORIGIN = Origin("agents.tasks", 3, 41, 1_796_000_000_000)
AT = "2026-10-06T09:00:00.500Z"


def read(
    event: Any,
    options: Mapping[str, object] | None = None,
    headers: Sequence[tuple[str, bytes]] = (),
    key: bytes | None = b"task-1",
    limits: Limits | None = None,
    origin: Origin = ORIGIN,
) -> Reading:
    """The reading of an event given as text, bytes or a value."""
    protocol = A2a().configured(options or {})
    return protocol.read(Record(encoded(event), key, headers, origin), "a2a", limits or Limits())


def encoded(event: Any) -> bytes | None:
    if isinstance(event, bytes | None):
        return event
    return (event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)).encode()


def status(
    state: Any = "INPUT_REQUIRED",
    *parts: Any,
    message_id: str | None = "q1",
    at: str | None = AT,
    task: str = "task-1",
    metadata: Any = None,
    **members: Any,
) -> dict[str, Any]:
    """A 1.0 status update; with parts, its message."""
    said: dict[str, Any] = {"state": f"TASK_STATE_{state}" if isinstance(state, str) else state}
    if at is not None:
        said["timestamp"] = at
    if parts or metadata is not None:
        message = {"role": "ROLE_AGENT", "parts": list(parts)}
        if message_id is not None:
            message["messageId"] = message_id
        if metadata is not None:
            message["metadata"] = metadata
        said["message"] = message
    update = {"taskId": task, "contextId": "ctx-1", "status": said, **members}
    return {"statusUpdate": update}


def text(words: str = "Which branch?") -> dict[str, Any]:
    return {"text": words}


def adk_call(call_id: str, name: str = "approve", **args: Any) -> dict[str, Any]:
    """A long-running function call as ADK writes it."""
    marks = {"adk_type": "function_call", "adk_is_long_running": True}
    return {"data": {"id": call_id, "name": name, "args": args}, "metadata": marks}


def strands(*ids: str) -> dict[str, Any]:
    entries = [{"interruptId": i, "name": "confirm", "reason": f"about {i}"} for i in ids]
    return {"data": {"interrupts": entries}}


def interrupt_artifact(*ids: str, task: str = "task-1") -> dict[str, Any]:
    """LangGraph's artifact with the values of pending interrupts."""
    parts = [{"kind": "data", "data": {"id": i, "value": {"question": f"{i}?"}}} for i in ids]
    return {
        "kind": "artifact-update",
        "taskId": task,
        "contextId": "ctx-1",
        "artifact": {"artifactId": "a", "name": "Interrupt", "parts": parts},
    }


def hybrid(state: str = "INPUT_REQUIRED", at: str = AT, task: str = "task-1") -> dict[str, Any]:
    """LangGraph's status in its own mix of dialects."""
    said = {"state": f"TASK_STATE_{state}", "timestamp": at}
    return {
        "kind": "status-update",
        "taskId": task,
        "contextId": "ctx-1",
        "status": said,
        "final": True,
    }


def asked(reading: Reading) -> list[Interrupted]:
    return [found for found in reading.inputs if isinstance(found, Interrupted)]


def only_asked(reading: Reading) -> Interrupted:
    assert reading.refusal is None
    (found,) = asked(reading)
    return found


def labels(reading: Reading) -> set[str]:
    return {count.label or count.metric for count in reading.counts}


def cases() -> list[dict[str, Any]]:
    """Recorded and hand-made events: {exchange, case, dialect, expect, event}."""
    made = [{"exchange": each["case"], **each} for each in vectors.made("a2a", "events")]
    collected = vectors.collected_json("a2a/all_events.jsonl")
    for each in collected:
        each["exchange"] = f"collected: {each['producer']}"
        each["case"] = f"{each['exchange']}-{each['case']}-{each['seq']}"
    recorded = [
        {"exchange": f"{told.peer}-{told.case}", "case": str(told), **_expected(told.value)}
        for told in vectors.events("a2a")
    ]
    return [*made, *recorded, *collected]


def _expected(event: dict[str, Any]) -> dict[str, Any]:
    """What a recorded event says, told by its own members and not by the bridge's reading."""
    body = event.get("result", event)
    wrapper = next((name for name in _WRAPPERS if name in body), None)
    inner = body if wrapper is None else body[wrapper]
    kind = inner.get("kind") or _WRAPPERS.get(wrapper or "task")
    status = inner.get("status", {})
    told = status.get("state", "")
    state = told.removeprefix("TASK_STATE_").replace("-", "_").upper().replace("LLED", "LED")
    expect = {
        "kind": kind,
        "taskId": inner.get("taskId") or inner.get("id"),
        "contextId": inner.get("contextId"),
        "state": state or None,
        "messageId": status.get("message", {}).get("messageId"),
    }
    is_proto = told.startswith("TASK_STATE_")
    dialect = ("hybrid" if is_proto else "0.3-jsonrpc") if "kind" in inner else "1.0"
    if '"content": [' in json.dumps(inner):
        dialect = "0.3-rest"
    return {"dialect": dialect, "expect": expect, "event": event}


_WRAPPERS = {
    "task": "task",
    "statusUpdate": "status-update",
    "artifactUpdate": "artifact-update",
}
