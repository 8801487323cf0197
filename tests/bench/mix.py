"""The inputs of all figures: run events with one interrupt, and the answers that close them.

A message of 120 bytes and a schema of 200; every answer satisfies the schema, so it is accepted.
"""

from __future__ import annotations

import json
from typing import Final

SOURCE: Final = "bb"

_REASON: Final = "Why the transfer is or is not approved, for the audit of the payments."
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "reason": {"type": "string", "description": _REASON},
    },
    "required": ["approved"],
}
_MESSAGE: Final = "Approve the transfer of 50 EUR to payee-1 by the agent payments-7?".ljust(
    120, "."
)
_THREAD: Final = "@thread@"


def _event(message: str) -> str:
    question = {
        "id": "int-1",
        "reason": "tool_call",
        "message": message,
        "toolCallId": "call_1",
        "responseSchema": _SCHEMA,
    }
    outcome = {"type": "interrupt", "interrupts": [question]}
    event = {"type": "RUN_FINISHED", "threadId": _THREAD, "runId": "r1", "outcome": outcome}
    return json.dumps(event, separators=(",", ":"))


def _answer() -> str:
    answer = {
        "answer_id": f"a-{_THREAD}",
        "source": SOURCE,
        "thread_id": _THREAD,
        "run_id": "r1",
        "interrupt_id": "int-1",
        "status": "resolved",
        "payload": {"approved": True, "reason": "within the budget"},
        "answered_by": "bench",
    }
    return json.dumps(answer, separators=(",", ":"))


SCHEMA_BYTES: Final = len(json.dumps(_SCHEMA, separators=(",", ":")))
_EVENT: Final = _event(_MESSAGE)
_SMALL_EVENT: Final = _event("Approve?")
_ANSWER: Final = _answer()


def event(thread: str) -> bytes:
    """A finished run of this thread that asks one question."""
    return _EVENT.replace(_THREAD, thread).encode()


def small_event(thread: str) -> bytes:
    """The same with a short message: its state record has 350-400 bytes."""
    return _SMALL_EVENT.replace(_THREAD, thread).encode()


def answer(thread: str) -> bytes:
    """The accepted answer to it."""
    return _ANSWER.replace(_THREAD, thread).encode()
