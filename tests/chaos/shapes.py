"""What frameworks ask in AG-UI, each in its own manner, with answers that fit and that do not.

Answers are JSON text, not values: number literals, key order and astral characters are part of
what must arrive.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple


class Question(NamedTuple):
    """One interrupt; `valid` are two different answers, `invalid` breaks the schema, if any."""

    interrupt: dict[str, Any]
    valid: tuple[str, str]
    invalid: str | None


class BadRecord(NamedTuple):
    """A record that must end in dead-letters."""

    key: bytes | None
    value: bytes | None


def langgraph(chance: random.Random, thread: str, run: str, number: int) -> Question:
    """interrupt() in a graph: 32 hex digits as id, no schema, nulls inside metadata."""
    raw = {"question": "Send the draft to the customer?", "draft": "Grüße aus Köln 🦀"}
    interrupt = {
        "id": f"{chance.getrandbits(128):032x}",
        "reason": "langgraph:interrupt",
        "message": raw["question"],
        "metadata": {"langgraph": {"raw": raw, "ns": [], "resumable": True, "when": None}},
    }
    return Question(interrupt, ('"yes"', '{"edit":"sooner","weight":1e2}'), None)


def pydantic_ai(chance: random.Random, thread: str, run: str, number: int) -> Question:
    """A tool call that needs approval; the id is made of the call's id."""
    call = f"call_{number}"
    interrupt = {
        "id": f"int-{call}",
        "reason": "tool_call",
        "message": f'Approve delete_file({{"path":"/data/é-{number}.txt"}})?',
        "toolCallId": call,
        "responseSchema": {
            "type": "object",
            "properties": {
                "approved": {"type": "boolean"},
                "editedArgs": {"type": "object"},
                "reason": {"type": "string"},
            },
            "required": ["approved"],
        },
    }
    edited = '{"editedArgs":{"bytes":18446744073709551617,"ratio":50.0},"approved":true}'
    return Question(interrupt, (edited, '{"approved":false}'), '{"approved":"yes"}')


def strands(chance: random.Random, thread: str, run: str, number: int) -> Question:
    """A hook's interrupt: the name as reason, its detail in metadata, a schema on the amount."""
    interrupt = {
        "id": f"v1:before_tool_call:{number}:{chance.getrandbits(32):08x}",
        "reason": "refund-limit",
        "metadata": {
            "tool_name": "refund",
            "tool_input": {"order": 2**53 + number, "amount": 120.50},
            "strandsName": "refund-limit",
        },
        "responseSchema": {
            "type": "object",
            "properties": {"amount": {"type": "number", "minimum": 0}},
            "required": ["amount"],
            "additionalProperties": False,
        },
    }
    return Question(interrupt, ('{"amount":1.20e2}', '{"amount":0}'), '{"amount":-5}')


def mastra(chance: random.Random, thread: str, run: str, number: int) -> Question:
    """A suspended tool: run and call in the id, the schema once as object and once as text."""
    schema = {
        "type": "object",
        "properties": {"seats": {"type": "array", "items": {"type": "string"}, "minItems": 1}},
        "required": ["seats"],
    }
    interrupt = {
        "id": f"{run}::call-{number}",
        "reason": "mastra:tool_suspend",
        "message": "Choose seats",
        "toolCallId": f"call-{number}",
        "responseSchema": schema,
        "metadata": {
            "mastra": {"resumeSchema": json.dumps(schema), "suspendPayload": {"flight": "LH441"}}
        },
    }
    return Question(interrupt, ('{"seats":["12A","12B"]}', '{"seats":["1C"]}'), '{"seats":[]}')


def crewai(chance: random.Random, thread: str, run: str, number: int) -> Question:
    """Feedback on a flow: the id is the thread's and recurs on every pause, the answer a string."""
    interrupt = {
        "id": thread if number == 0 else f"{thread}#{number}",
        "reason": "human_input",
        "message": "Is the summary good enough?",
        "responseSchema": {"type": "string", "enum": ["approved", "revise", "reject"]},
        "metadata": {"crewai": {"output": "A summary in three sentences.", "method": "review"}},
    }
    return Question(interrupt, ('"approved"', '"revise"'), '"maybe"')


SHAPES: tuple[Callable[[random.Random, str, str, int], Question], ...] = (
    langgraph,
    pydantic_ai,
    strands,
    mastra,
    crewai,
)


def finished(
    thread: str, run: str, questions: tuple[Question, ...], expires: list[str | None]
) -> bytes:
    """The run-finished event that asks these questions."""
    interrupts = [
        question.interrupt | ({"expiresAt": instant} if instant else {})
        for question, instant in zip(questions, expires, strict=True)
    ]
    event = {
        "type": "RUN_FINISHED",
        "threadId": thread,
        "runId": run,
        "outcome": {"type": "interrupt", "interrupts": interrupts},
        "usage": [{"provider": "example", "inputTokens": 812, "outputTokens": 64}],
    }
    return json.dumps(event, ensure_ascii=False).encode()


def resumed_elsewhere(thread: str, questions: tuple[Question, ...]) -> bytes:
    """A run that somebody else started to answer all of them."""
    entries = [{"interruptId": q.interrupt["id"], "status": "cancelled"} for q in questions]
    run = f"{thread}-elsewhere"
    given = {"threadId": thread, "runId": run, "messages": [], "resume": entries}
    event = {"type": "RUN_STARTED", "threadId": thread, "runId": run, "input": given}
    return json.dumps(event, ensure_ascii=False).encode()


def run_error() -> bytes:
    """The late error of an interrupted run: it names no thread but by its record's key."""
    return json.dumps({"type": "RUN_ERROR", "message": "connection closed"}).encode()


def in_future(seconds: float) -> str:
    """An RFC 3339 instant that far from now."""
    instant = datetime.fromtimestamp(datetime.now(UTC).timestamp() + seconds, UTC)
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def bad_record(chance: random.Random, thread: str) -> BadRecord:
    """One of the ways in which a record of the input topic is of no use."""
    asks = '{"type":"RUN_FINISHED","threadId":"%s","runId":"bad","outcome":%s}'
    interrupt = '{"type":"interrupt","interrupts":[{"id":"a","reason":"r","metadata":{"x":%s}}]}'
    values: tuple[bytes | None, ...] = (
        b"{not json",
        None,
        b"",
        b"[1,2,3]",
        b"\xff\xfe\x00",
        b"[" * 1_000 + b"]" * 1_000,
        (asks % (thread, interrupt % "NaN")).encode(),
        (asks % (thread, interrupt % '{"a":1,"a":2}')).encode(),
        (asks % (thread, interrupt % '"\\ud800"')).encode(),
        (asks % (thread, interrupt % ("[" * 200 + "]" * 200))).encode(),
        (asks % (thread, '{"type":"paused"}')).encode(),
        (asks % (thread, '{"type":"interrupt","interrupts":[]}')).encode(),
        (asks % (thread, '{"type":"interrupt","interrupts":[{"id":7,"reason":"r"}]}')).encode(),
        (asks % (thread, '{"type":"success","interrupts":[{"id":"a","reason":"r"}]}')).encode(),
        b'{"type":"RunFinished","threadId":"t","runId":"r"}',
    )
    return BadRecord(chance.choice((None, thread.encode(), b"\xff\xfe")), chance.choice(values))


def bad_answer(chance: random.Random) -> bytes | None:
    """One of the ways in which an answer is malformed."""
    return chance.choice(
        (
            b"not json",
            b"",
            None,
            b'{"status":"resolved","payload":true}',
            b'{"approval_id":"00000000-0000-8000-8000-000000000000","status":"done"}',
            b'{"approval_id":"00000000-0000-8000-8000-000000000000","status":"resolved","x":1}',
            b'{"source":"s","thread_id":"t","status":"resolved","payload":1}',
        )
    )
