"""What frameworks ask in AG-UI, each in its own manner, with answers that fit and that do not.

Answers are JSON text, not values: number literals, key order and astral characters are part of
what must arrive.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple


class Interrupt(NamedTuple):
    """One interrupt; `valid` are two different answers, `invalid` breaks the schema, if any."""

    body: dict[str, Any]
    valid: tuple[str, str]
    invalid: str | None


Shape = Callable[[random.Random, str, str, int], Interrupt]


def langgraph(chance: random.Random, thread: str, run: str, number: int) -> Interrupt:
    """interrupt() in a graph: 32 hex digits as id, no schema, nulls inside metadata."""
    raw = {"question": "Send the draft to the customer?", "draft": "Grüße aus Köln 🦀"}
    interrupt = {
        "id": f"{chance.getrandbits(128):032x}",
        "reason": "langgraph:interrupt",
        "message": raw["question"],
        "metadata": {"langgraph": {"raw": raw, "ns": [], "resumable": True, "when": None}},
    }
    return Interrupt(interrupt, ('"yes"', '{"edit":"sooner","weight":1e2}'), None)


def pydantic_ai(chance: random.Random, thread: str, run: str, number: int) -> Interrupt:
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
    return Interrupt(interrupt, (edited, '{"approved":false}'), '{"approved":"yes"}')


def strands(chance: random.Random, thread: str, run: str, number: int) -> Interrupt:
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
    return Interrupt(interrupt, ('{"amount":1.20e2}', '{"amount":0}'), '{"amount":-5}')


def mastra(chance: random.Random, thread: str, run: str, number: int) -> Interrupt:
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
        "subagentRunId": f"{run}/sub-{number}",
        "responseSchema": schema,
        "metadata": {
            "mastra": {"resumeSchema": json.dumps(schema), "suspendPayload": {"flight": "LH441"}}
        },
    }
    return Interrupt(interrupt, ('{"seats":["12A","12B"]}', '{"seats":["1C"]}'), '{"seats":[]}')


def crewai(chance: random.Random, thread: str, run: str, number: int) -> Interrupt:
    """Feedback on a flow: the id is the thread's and recurs on every pause, the answer a string."""
    interrupt = {
        "id": thread if number == 0 else f"{thread}#{number}",
        "reason": "human_input",
        "message": "Is the summary good enough?",
        "responseSchema": {"type": "string", "enum": ["approved", "revise", "reject"]},
        "metadata": {"crewai": {"output": "A summary in three sentences.", "method": "review"}},
    }
    return Interrupt(interrupt, ('"approved"', '"revise"'), '"maybe"')


SHAPES: tuple[Shape, ...] = (langgraph, pydantic_ai, strands, mastra, crewai)
