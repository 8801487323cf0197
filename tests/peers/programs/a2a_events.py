"""What an A2A event or response says, in all dialects: its task, its state, which status it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

ENDS = {
    "completed": "finished",
    "canceled": "cancelled",
    "input-required": "asks",
    "auth-required": "asks",
}


@dataclass(frozen=True)
class Said:
    """`state` as 0.3 spells it, empty in events without one."""

    task_id: str = ""
    state: str = ""
    message_id: str = ""
    timestamp: str = ""
    error: str | None = None

    @property
    def rests(self) -> bool:
        """Whether the agent does nothing more by itself."""
        return self.state not in {"", "submitted", "working"}

    def repeats(self, other: Said) -> bool:
        """Whether it is the same status: its message may be in the history by now."""
        if self.state != other.state:
            return False
        if self.message_id and other.message_id:
            return self.message_id == other.message_id
        return self.timestamp == other.timestamp


def said(text: str) -> Said:
    """Raises ValueError where the text is no JSON object."""
    event = json.loads(text)
    if "error" in event:
        return Said(error=json.dumps(event["error"]))
    body = event.get("result", event)
    for wrapper in ("task", "statusUpdate", "artifactUpdate"):
        body = body.get(wrapper, body)
    status = body.get("status", {})
    return Said(
        body.get("taskId") or body.get("id", ""),
        _state(status),
        status.get("message", {}).get("messageId", ""),
        status.get("timestamp", ""),
    )


def _state(status: dict[str, Any]) -> str:
    name = str(status.get("state", "")).removeprefix("TASK_STATE_")
    return name.lower().replace("_", "-").replace("cancelled", "canceled")
