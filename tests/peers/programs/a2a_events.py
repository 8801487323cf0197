"""What an A2A event or response says, in all dialects: its task, its state, which status it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

ENDS = {"completed": "finished", "canceled": "cancelled", "input-required": "asks"}


@dataclass(frozen=True)
class Said:
    """`state` as 0.3 spells it, empty in events without one; `mark` tells a status from others."""

    task_id: str
    state: str
    mark: str
    error: str | None = None

    @property
    def rests(self) -> bool:
        """Whether the agent does nothing more by itself."""
        return self.state not in {"", "submitted", "working"}


def said(text: str) -> Said:
    """Raises ValueError where the text is no JSON object."""
    event = json.loads(text)
    if "error" in event:
        return Said("", "", "", json.dumps(event["error"]))
    body = event.get("result", event)
    for wrapper in ("task", "statusUpdate", "artifactUpdate"):
        body = body.get(wrapper, body)
    status = body.get("status", {})
    # A status that is made anew for each snapshot has another timestamp: the question's id counts.
    mark = status.get("message", {}).get("messageId") or status.get("timestamp", "")
    return Said(body.get("taskId") or body.get("id", ""), _state(status), mark)


def _state(status: dict[str, Any]) -> str:
    name = str(status.get("state", "")).removeprefix("TASK_STATE_")
    return name.lower().replace("_", "-").replace("cancelled", "canceled")
