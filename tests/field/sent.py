"""What other people's systems put on Kafka: records, and what has to come of each."""

from __future__ import annotations

import json
from dataclasses import dataclass

NOTHING: frozenset[str] = frozenset()
QUESTION = {"id": "ask-1", "reason": "tool_call"}


@dataclass(frozen=True)
class Sent:
    """One record as it goes to a topic, and what has to come of it."""

    to: str  # a source, or `answers`
    value: bytes | None
    finds: frozenset[str]  # `asks KIND THREAD/INTERRUPT`, `verdict …`, `letter REASON`
    key: bytes | None = None
    timestamp: int | None = None


def told(*finds: str) -> frozenset[str]:
    return frozenset(finds)


def asks(thread: str, *interrupts: str, kind: str = "input") -> frozenset[str]:
    return told(*(f"asks {kind} {thread}/{one}" for one in interrupts or ("ask-1",)))


def question(thread: str) -> bytes:
    """A run of AG-UI that asks one question."""
    outcome = {"type": "interrupt", "interrupts": [QUESTION]}
    event = {"type": "RUN_FINISHED", "threadId": thread, "runId": "run-1", "outcome": outcome}
    return json.dumps(event).encode()
