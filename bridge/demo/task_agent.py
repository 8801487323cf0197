"""An agent behind A2A: its thread is a task, its questions are the items of a status.

The items are ADK's: long-running function calls, answered by one message with all responses. Before
them the task wants a sign-in, which no answer on a topic can give.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from bridge.demo.agent import Agent, Json, encoded
from bridge.records import ResumeCommand

SIGN_IN = "msg-sign-in"
"""The run that waits for a sign-in; a run is called by the id of its status message."""
SIGN_IN_AT = "https://forge.example.org/device"


class TaskAgent(Agent):
    """INPUT_REQUIRED asks its items, AUTH_REQUIRED for a sign-in."""

    __slots__ = ()
    protocol: ClassVar[str] = "a2a"
    answers_at: ClassVar[tuple[str, ...]] = ("params", "message", "parts")

    def starts(self, run_id: str) -> bytes:
        """As `Agent` says."""
        return self._status("WORKING")

    def asks(self, run_id: str) -> bytes:
        """As `Agent` says."""
        if run_id == SIGN_IN:
            parts: list[Json] = [{"text": f"Sign in to the forge at {SIGN_IN_AT}"}]
            return self._status("AUTH_REQUIRED", run_id, parts)
        marks = {"adk_type": "function_call", "adk_is_long_running": True}
        parts = [{"data": call, "metadata": marks} for call in self.interrupts]
        return self._status("INPUT_REQUIRED", run_id, parts)

    def goes_on(self, command: ResumeCommand) -> bytes:
        """As `Agent` says."""
        sent = command.native.method == "SendMessage"
        return self._status("WORKING" if sent else "CANCELED")

    def ends(self, command: ResumeCommand) -> bytes | None:
        """As `Agent` says."""
        sent = command.native.method == "SendMessage"
        return self._status("COMPLETED") if sent else None

    def method(self, statuses: Sequence[str]) -> str:
        """As `Agent` says."""
        return "CancelTask" if "cancelled" in statuses else "SendMessage"

    def interrupt_id(self, run_id: str, index: int) -> str:
        """As `Agent` says."""
        return run_id if run_id == SIGN_IN else str(self.interrupts[index]["id"])

    def asked(self, run_id: str) -> int:
        """As `Agent` says."""
        return 1 if run_id == SIGN_IN else len(self.interrupts)

    def _status(self, state: str, run_id: str = "", parts: Sequence[Json] = ()) -> bytes:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        status: dict[str, Any] = {"state": f"TASK_STATE_{state}", "timestamp": now}
        if parts:
            status["message"] = {"messageId": run_id, "role": "ROLE_AGENT", "parts": parts}
        ids = {"taskId": self.thread_id, "contextId": f"ctx-{self.thread_id}"}
        return encoded({"statusUpdate": {**ids, "status": status}})


def code_review() -> TaskAgent:
    """Two function calls of one status, each with a confirmation's hint."""

    def ask(id_: str, name: str, hint: str, **args: Any) -> Json:
        return {"id": id_, "name": name, "args": {**args, "toolConfirmation": {"hint": hint}}}

    return TaskAgent(
        "code-review",
        "ADK",
        "task-pr-1182",
        "msg-what-next",
        (
            ask("adk-7f1", "adk_request_confirmation", "Merge pull request 1182?", pr=1182),
            ask("adk-7f2", "choose_release", "Which release gets it?", open=["1.8", "2.0"]),
        ),
        scope="code-review",
        options='agent = "code-review"\nendpoint = "https://agents.example.org/code-review"\n',
    )
