"""Runs of A2A and Genkit for the log written by hand: a task's items, a turn's paused tools.

What an agent writes and what an executor has to send stand here in full; nothing is computed by
the bridge.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from bridge.audit.log import Source
from tests.chaos.written_log import SETUP, Run, instant

TASKS, TURNS = "reviewers.tasks", "bank.turns"
MIXED = replace(
    SETUP,
    sources={
        **SETUP.sources,
        TASKS: Source("reviewers", "a2a", {"agent": "review", "tenant": "t 9"}),
        TURNS: Source(
            "bank",
            "genkit",
            {
                "agent": "bank",
                "runtime": "go",
                "tools": {
                    "pay": {"action": "restart", "refusal": {"status": "declined"}},
                    "ask": {"action": "respond"},
                },
            },
        ),
    },
)


class Task(Run):
    """A task in INPUT_REQUIRED; its interrupts are ADK's long-running function calls."""

    source: ClassVar[str] = "reviewers"
    scope: ClassVar[str] = "review/t%209"
    protocol: ClassVar[str] = "a2a"
    topic: ClassVar[str] = TASKS

    def asks(self) -> dict[str, Any]:
        marks = {"adk_type": "function_call", "adk_is_long_running": True}
        parts = [{"data": call, "metadata": marks} for call in self.interrupts]
        message = {"messageId": self.run, "role": "ROLE_AGENT", "parts": parts}
        return self.told("TASK_STATE_INPUT_REQUIRED", message=message)

    def told(self, state: str, **members: Any) -> dict[str, Any]:
        """A status update of the task, made now."""
        status = {"state": state, "timestamp": instant(self.log.now), **members}
        return {"statusUpdate": {"taskId": self.thread, "contextId": "ctx-1", "status": status}}

    def shown(self, index: int) -> dict[str, Any]:
        call = self.interrupts[index]
        words = {"reason": call["name"], "message": "The agent needs input."}
        metadata = {"item": call, "contextId": "ctx-1"}
        return {**words, "tool_call_id": call["id"], "metadata": metadata}

    def close(self, outcome: str, **changes: Any) -> None:
        """One item that was given up takes the others with it."""
        if outcome == "resumed" and any(e["status"] == "cancelled" for e in self.entries.values()):
            for index, entry in self.entries.items():
                if entry["status"] == "resolved":
                    reason = {"closed_reason": "sibling_abandoned"}
                    self.entries[index] = {"status": "cancelled", **reason}
                    self.approvals[index] |= reason
        super().close(outcome, **changes)

    def native(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        if any(entry["status"] == "cancelled" for entry in entries):
            return self._request("CancelTask", {"id": self.thread, "metadata": {"reason": "x"}})
        parts = [
            {
                "data": {"id": call["id"], "name": call["name"], "response": entry["payload"]},
                "metadata": {"adk_type": "function_response"},
            }
            for call, entry in zip(self.interrupts, entries, strict=True)
        ]
        ids = {"messageId": self.make_id("resume-run"), "taskId": self.thread}
        message = {**ids, "contextId": "ctx-1", "role": "ROLE_USER", "parts": parts}
        return self._request("SendMessage", {"message": message})

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        request = {"jsonrpc": "2.0", "id": self.make_id("resume-run"), "method": method}
        return {"method": method, "body": {**request, "params": params}}


class Gate(Task):
    """A task that wants tools approved by kagent's extension, which has a no for each."""

    URI: ClassVar[str] = "https://kagent.dev/extensions/hitl/v1"

    def asks(self) -> dict[str, Any]:
        tools = [{**tool, "call_id": f"c-{tool['id']}"} for tool in self.interrupts]
        request = {"type": "tool_approval_request", "hint": "Sure?", "tools": tools}
        message = {"messageId": self.run, "role": "ROLE_AGENT", "parts": [{"text": "?"}]}
        extension = {"extensions": [self.URI], "metadata": {self.URI: request}}
        return self.told("TASK_STATE_INPUT_REQUIRED", message={**message, **extension})

    def shown(self, index: int) -> dict[str, Any]:
        tool, call = self.interrupts[index], f"c-{self.interrupts[index]['id']}"
        words = {"reason": tool["name"], "message": "Sure?", "tool_call_id": call}
        return {**words, "metadata": {"item": {**tool, "call_id": call}}}

    def close(self, outcome: str, **changes: Any) -> None:
        Run.close(self, outcome, **changes)

    def native(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        no = {"approved": False, "rejection_reason": "not approved: cancelled"}
        approvals = [
            {"id": tool["id"], **(entry["payload"] if entry["status"] == "resolved" else no)}
            for tool, entry in zip(self.interrupts, entries, strict=True)
        ]
        said = {self.URI: {"type": "tool_approval_response", "approvals": approvals}}
        ids = {"messageId": self.make_id("resume-run"), "taskId": self.thread}
        message: dict[str, Any] = {**ids, "contextId": "ctx-1", "role": "ROLE_USER", "parts": []}
        message |= {"metadata": said, "extensions": [self.URI]}
        return self._request("SendMessage", {"message": message})


class SignIn(Task):
    """A task in AUTH_REQUIRED: one question, which no answer answers."""

    def asks(self) -> dict[str, Any]:
        parts = [{"text": "Sign in at https://login.example/x"}]
        message = {"messageId": self.run, "role": "ROLE_AGENT", "parts": parts}
        return self.told("TASK_STATE_AUTH_REQUIRED", message=message)

    def shown(self, index: int) -> dict[str, Any]:
        return {"kind": "authorization", "message": "Sign in at https://login.example/x"}


class Turn(Run):
    """A paused turn whose state the server keeps; its interrupts are tool requests."""

    source: ClassVar[str] = "bank"
    scope: ClassVar[str] = "bank"
    protocol: ClassVar[str] = "genkit"
    topic: ClassVar[str] = TURNS

    def asks(self) -> dict[str, Any]:
        content = [
            {"toolRequest": tool["request"], "metadata": {"interrupt": tool["interrupt"]}}
            for tool in self.interrupts
        ]
        return self.ends("interrupted", {"role": "model", "content": content}, self.run)

    def ends(self, reason: str, message: dict[str, Any], snapshot: str) -> dict[str, Any]:
        """A turn of the session."""
        ids = {"sessionId": self.thread, "snapshotId": snapshot}
        return {**ids, "finishReason": reason, "message": message}

    def shown(self, index: int) -> dict[str, Any]:
        tool = self.interrupts[index]
        restarts = tool["request"]["name"] == "pay"
        metadata = {**tool["request"], "index": index, "interrupt": tool["interrupt"]}
        return {
            "reason": "tool_interrupt",
            "tool_call_id": tool["request"]["ref"],
            "metadata": metadata,
            "actions": ["restart", "respond"] if restarts else ["respond"],
            "flags": [] if restarts else ["no_refusal"],
        }

    def native(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        resume: dict[str, list[Any]] = {}
        for tool, entry in zip(self.interrupts, entries, strict=True):
            request, payload = tool["request"], entry.get("payload")
            ids = {"name": request["name"], "ref": request["ref"]}
            restarts = request["name"] == "pay" and entry["status"] == "resolved"
            if restarts:
                part = {"toolRequest": request, "metadata": {"resumed": payload}}
            else:
                output = payload if entry["status"] == "resolved" else {"status": "declined"}
                marks = {"interruptResponse": True}
                part = {"toolResponse": {**ids, "output": output}, "metadata": marks}
            resume.setdefault("restart" if restarts else "respond", []).append(part)
        init = {"sessionId": self.thread, "snapshotId": self.run}
        return {"method": "resume", "body": {"data": {"resume": resume}, "init": init}}


def call(name: str, **args: Any) -> dict[str, Any]:
    """ADK's function call."""
    return {"id": f"call-{name}", "name": name, "args": args}


def tool(name: str, ref: str, **input_: Any) -> dict[str, Any]:
    """A tool request and what its tool asks."""
    request = {"name": name, "ref": ref, "input": input_}
    return {"id": f"{name}-{ref}", "request": request, "interrupt": {"reason": "May I?"}}
