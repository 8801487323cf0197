"""Laws of the A2A reader over events nobody thought of."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.core.model import Interrupted, Keep, Limits
from bridge.protocols.a2a import A2a
from bridge.protocols.a2a.event import Event
from bridge.protocols.a2a.glance import glance
from bridge.protocols.a2a.options import Options
from bridge.protocols.a2a.read import read_closely
from bridge.protocols.interface import Reading, Record
from tests.unit.protocols.a2a_events import (
    ORIGIN,
    adk_call,
    hybrid,
    interrupt_artifact,
    read,
    status,
    strands,
    text,
)
from tests.unit.protocols.mutation import anything, damaged, mutated
from tests.unit.protocols.test_a2a_build import closed, continued

WORDS = [
    "TASK_STATE_INPUT_REQUIRED",
    "input-required",
    "TASK_STATE_WORKING",
    "task",
    "Interrupt",
    "t",
]
NAMES = ["id", "kind", "task", "statusUpdate", "status", "state", "parts", "data", "metadata"]
PARTS = anything(NAMES, WORDS)
QUESTION = status("INPUT_REQUIRED", text(), adk_call("c"), metadata={"x": 1}, generation="3")
SEEDS = (
    QUESTION,
    {"jsonrpc": "2.0", "id": 1, "result": status("AUTH_REQUIRED", text("https://x.example"))},
    {"tasks": [{"id": "a", "status": QUESTION["statusUpdate"]["status"]}, {"id": "b"}]},
    status("INPUT_REQUIRED", strands("a", "b")),
    status("WORKING"),
    hybrid(),
    interrupt_artifact("a"),
    {"jsonrpc": "2.0", "id": "x", "error": {"code": -32004, "message": "m"}},
)
RECORD_KEYS = st.sampled_from([None, b"", b"task-1", b"\xff"])


def _answered(reading: Reading) -> None:
    """Whatever was read as a question can be completed, answered and given up."""
    for found in reading.inputs:
        if isinstance(found, Interrupted):
            event = A2a().complete(found, None, None)
            payloads = [b'{"a":1}'] * len(event.questions)
            assert json.loads(continued(closed(event, *payloads)).body)
            given_up = continued(closed(event, *payloads, item_0="expired"))
            assert given_up.abandons_siblings
            ids = [question.interrupt_id for question in event.questions]
            assert len(set(ids)) == len(ids) > 0


@given(mutated(SEEDS, PARTS), RECORD_KEYS)
@settings(max_examples=500, deadline=None)
def test_no_event_makes_the_reader_raise(event: Any, key: bytes | None) -> None:
    """A refusal makes no input, and every question has an answer that can be built."""
    reading = read(json.dumps(event), key=key)
    assert not (reading.refusal and reading.inputs)
    _answered(reading)


@given(st.sampled_from(SEEDS), st.data())
@settings(max_examples=400, deadline=None)
def test_no_bytes_make_the_reader_raise(event: Any, data: st.DataObject) -> None:
    """Cut, overwritten and inserted bytes."""
    reading = read(damaged(event, data))
    assert not (reading.refusal and reading.inputs)
    _answered(reading)


@given(mutated(SEEDS, PARTS))
@settings(max_examples=400, deadline=None)
def test_the_short_way_never_says_otherwise(event: Any) -> None:
    """What it says, the long way says too, or refuses for a member that the short one skips."""
    value = json.dumps(event).encode()
    record = Record(value, b"k", (), ORIGIN)
    short = glance(value, record, "s", Options())
    long = read_closely(Event(value, record, "s", Limits(), Options()))
    if short is not None and short != long:
        assert long.refusal is not None
        assert long.refusal.detail == "is of another type than A2A has there"


@given(mutated(SEEDS, PARTS), mutated(SEEDS, PARTS))
@settings(max_examples=300, deadline=None)
def test_kept_items_and_a_status_always_make_questions(artifact: Any, event: Any) -> None:
    """Any carried body, with or without an open run."""
    carries = [c.body for c in read(json.dumps(artifact)).inputs if isinstance(c, Keep)]
    carry = next((body for body in carries if body is not None), None)
    for found in read(json.dumps(event)).inputs:
        if isinstance(found, Interrupted):
            complete = A2a().complete(found, None, carry)
            run = closed(complete, *[b"1"] * len(complete.questions))
            again = A2a().complete(found, run, carry)
            assert again.run_id == complete.run_id
            assert json.loads(continued(run).body)
