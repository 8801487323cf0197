"""Builders of A2A events, and the recorded vectors they are compared with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bridge.core.model import Interrupted, Limits, Origin
from bridge.protocols.a2a import A2a
from bridge.protocols.interface import Reading, Record

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


def vectors(name: str) -> list[dict[str, Any]]:
    """The lines of a recorded file, or a skip that says where it was looked for."""
    root = Path(os.environ.get("BRIDGE_VECTORS") or Path(__file__).parents[4] / "shared/vectors")
    path = root / "a2a" / name
    if not path.is_file():
        pytest.skip(
            f"no vectors at {path}; set BRIDGE_VECTORS to their folder", allow_module_level=True
        )
    return list(_lines(path))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
