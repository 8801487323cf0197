"""Laws of the A2A reader over events nobody thought of."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.core.model import Carry, Interrupted, Limits
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
from tests.unit.protocols.test_a2a_build import closed

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
WORDS = st.sampled_from(
    ["TASK_STATE_INPUT_REQUIRED", "input-required", "TASK_STATE_WORKING", "task", "Interrupt", "t"]
)
NAMES = ["id", "kind", "task", "statusUpdate", "status", "state", "parts", "data", "metadata"]
JSON = st.recursive(
    SCALARS | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
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


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    pairs: Any = ()
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(place for key, item in pairs for place in _places(item, (*path, key)))]


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(copy[path[0]], path[1:], new)
    return copy


@st.composite
def mutated_events(draw: st.DrawFn) -> Any:
    """A real event with one to three of its parts replaced by anything."""
    event: Any = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 3))):
        event = _with(event, draw(st.sampled_from(_places(event))), draw(JSON))
    return event


def _answered(reading: Reading) -> None:
    """Whatever was read as a question can be completed, answered and given up."""
    for found in reading.inputs:
        if isinstance(found, Interrupted):
            event = A2a().complete(found, None, None)
            payloads = [b'{"a":1}'] * len(event.questions)
            assert json.loads(A2a().build(closed(event, *payloads), None).body)
            given_up = A2a().build(closed(event, *payloads, item_0="expired"), None)
            assert given_up.abandons_siblings
            ids = [question.interrupt_id for question in event.questions]
            assert len(set(ids)) == len(ids) > 0


@given(mutated_events(), RECORD_KEYS)
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
    value = bytearray(json.dumps(event).encode())
    start = data.draw(st.integers(0, len(value)))
    end = data.draw(st.integers(start, min(len(value), start + 8)))
    value[start:end] = data.draw(st.binary(max_size=8))
    reading = read(bytes(value))
    assert not (reading.refusal and reading.inputs)
    _answered(reading)


@given(mutated_events())
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


@given(mutated_events(), mutated_events())
@settings(max_examples=300, deadline=None)
def test_kept_items_and_a_status_always_make_questions(artifact: Any, event: Any) -> None:
    """Any carried body, with or without an open run."""
    carries = [c.body for c in read(json.dumps(artifact)).inputs if isinstance(c, Carry)]
    carry = next((body for body in carries if body is not None), None)
    for found in read(json.dumps(event)).inputs:
        if isinstance(found, Interrupted):
            complete = A2a().complete(found, None, carry)
            run = closed(complete, *[b"1"] * len(complete.questions))
            again = A2a().complete(found, run, carry)
            assert again.run_id == complete.run_id
            assert json.loads(A2a().build(run, None).body)
