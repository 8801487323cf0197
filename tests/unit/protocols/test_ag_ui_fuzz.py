"""Laws of the AG-UI reader over events nobody thought of."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.core import json_text
from bridge.core.decide import decide
from bridge.core.model import (
    ApprovalId,
    Context,
    Entry,
    Interrupted,
    Keep,
    Limits,
    Outdate,
    Patch,
    Thread,
    ThreadKey,
)
from bridge.protocols import configured
from bridge.protocols.interface import Record
from tests.unit.core.builders import rules
from tests.unit.protocols.agui_events import (
    ASK,
    ORIGIN,
    finished,
    ids,
    interrupted,
    only_interrupted,
    read,
)
from tests.unit.protocols.mutation import anything, damaged, mutated

PARTS = anything(["id", "type", "interrupts", "outcome", "metadata"])
SEEDS = (
    interrupted({**ASK, "metadata": {"a": [1]}, "responseSchema": {}}, {"id": "b", "reason": "x"}),
    finished({"type": "success", "pendingToolCallIds": ["c"]}, usage=[{"inputTokens": 1}]),
    {
        "type": "RUN_STARTED",
        "threadId": "t",
        "runId": "r",
        "input": {"resume": [{"interruptId": "a", "status": "resolved"}]},
    },
    {"type": "RUN_ERROR", "message": "boom"},
    {"type": "CUSTOM", "name": "on_interrupt", "value": 1},
)


@given(mutated(SEEDS, PARTS), st.sampled_from([None, b"", b"t-1", b"\xff"]))
@settings(max_examples=400, deadline=None)
def test_no_event_makes_the_reader_raise(event: Any, key: bytes | None) -> None:
    """A refusal makes no input, and a question is only ever read from an interrupt outcome."""
    reading = read(json.dumps(event), key=key)
    assert not (reading.refusal and reading.inputs)
    if any(isinstance(found, Interrupted) for found in reading.inputs):
        assert event["outcome"]["type"] == "interrupt"
        assert set(ids(reading)) == {item["id"] for item in event["outcome"]["interrupts"]}


@given(st.sampled_from(SEEDS), st.data())
@settings(max_examples=400, deadline=None)
def test_no_bytes_make_the_reader_raise(event: Any, data: st.DataObject) -> None:
    """Cut, overwritten and inserted bytes."""
    reading = read(damaged(event, data))
    assert not (reading.refusal and reading.inputs)


# --- With continuity ------------------------------------------------------------------------------

INPUT = {"threadId": "t-1", "messages": [{"id": "m"}], "state": 1.5, "tools": [], "context": []}
CONTEXT_SEEDS = (
    *SEEDS,
    {"type": "RUN_STARTED", "threadId": "t-1", "runId": "r", "input": INPUT},
    {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "m"}]},
    {"type": "STATE_SNAPSHOT", "snapshot": {"n": 1}},
    {"type": "STATE_DELTA", "delta": []},
    {"event": interrupted(ASK), "input": INPUT},
)
KEEPING = configured("ag-ui", {}, continuity=True)
RESUMED = decide(
    Thread(), only_interrupted(read(interrupted(ASK))), ORIGIN.timestamp, rules()
).thread.runs[0]
EXPIRED = [Entry(item.question, ApprovalId("a"), "cancelled", "expired") for item in RESUMED.items]


def _check_kept(value: bytes, key: bytes | None) -> None:
    """The laws of a reading with continuity; what is kept can be sent."""
    reading = KEEPING.read(Record(value, key, (), ORIGIN), "support", Limits())
    if reading.refusal is not None:
        # Whatever the record was, the thread of its key may only lose its context by it.
        thread = key.decode() if key and key != b"\xff" else None
        lost = [Outdate(ThreadKey("support", "", thread), ORIGIN)] if thread else []
        assert list(reading.inputs) == lost
    for told in reading.inputs:
        if isinstance(told, Patch):
            assert isinstance(json_text.read(told.members), dict)
            assert key is not None
            assert told.thread.thread_id == key.decode()
        elif isinstance(told, Keep):
            assert isinstance(json_text.read(told.body), dict)
            json_text.read(KEEPING.build(RESUMED, EXPIRED, told.body).body)
    plain = read(value, key=key)
    if plain.refusal is None:
        kept = [told for told in reading.inputs if not isinstance(told, Context)]
        assert kept == list(plain.inputs)


@given(mutated(CONTEXT_SEEDS, PARTS), st.sampled_from([None, b"", b"t-1", b"\xff"]))
@settings(max_examples=400, deadline=None)
def test_no_event_breaks_the_context(event: Any, key: bytes | None) -> None:
    """What events mean is the same as without; only contexts come on top."""
    _check_kept(json.dumps(event).encode(), key)


@given(st.sampled_from(CONTEXT_SEEDS), st.data())
@settings(max_examples=400, deadline=None)
def test_no_bytes_break_the_context(event: Any, data: st.DataObject) -> None:
    """Cut, overwritten and inserted bytes."""
    _check_kept(damaged(event, data), b"t-1")
