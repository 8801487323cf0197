"""Builders of AG-UI events, and short ways to what is read of them."""

from __future__ import annotations

import json
from typing import Any

from bridge.core.model import Input, Interrupted, Limits, Origin, RunEnded
from bridge.protocols import PROTOCOLS
from bridge.protocols.interface import Reading, Record

AG_UI = PROTOCOLS["ag-ui"]
ORIGIN = Origin("agents.run-finished", 3, 41, 1_790_337_600_000)
ASK = {"id": "i-1", "reason": "tool_call"}


def read(
    event: Any, key: bytes | None = b"t-1", limits: Limits | None = None, source: str = "support"
) -> Reading:
    """The reading of an event given as text, bytes or a value."""
    if isinstance(event, str):
        event = event.encode()
    elif not isinstance(event, bytes | None):
        event = json.dumps(event, ensure_ascii=False).encode()
    return AG_UI.read(Record(event, key, (), ORIGIN), source, limits or Limits())


def finished(outcome: Any = None, **members: Any) -> dict[str, Any]:
    event = {"type": "RUN_FINISHED", "threadId": "t-1", "runId": "r-1", **members}
    return event if outcome is None else {**event, "outcome": outcome}


def interrupted(*interrupts: Any, **members: Any) -> dict[str, Any]:
    return finished({"type": "interrupt", "interrupts": list(interrupts)}, **members)


def told(reading: Reading) -> list[Input]:
    """The inputs, but for the ends of runs that every event tells of which might have asked."""
    return [found for found in reading.inputs if not isinstance(found, RunEnded)]


def only_interrupted(reading: Reading) -> Interrupted:
    (found,) = told(reading)
    assert isinstance(found, Interrupted)
    return found


def ids(reading: Reading) -> list[str]:
    """Interrupt ids of what was read; none where no approval comes of it."""
    return [
        question.interrupt_id
        for found in reading.inputs
        if isinstance(found, Interrupted)
        for question in found.questions
    ]


def labels(reading: Reading) -> set[str]:
    return {count.label or count.metric for count in reading.counts}
