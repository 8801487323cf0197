"""Laws of the Genkit reader over records nobody thought of."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.core.model import Interrupted
from tests.unit.protocols.genkit_turns import (
    GENKIT,
    Desk,
    configured,
    held,
    output,
    questions,
    read,
    request,
    snapshot,
)
from tests.unit.protocols.mutation import anything, damaged, mutated

NAMES = [
    "finishReason",
    "status",
    "message",
    "state",
    "toolRequest",
    "metadata",
    "interrupt",
    "ref",
]
PARTS = anything(NAMES, ["interrupted", "completed", "model"])
SEEDS = (
    output(request(), request("ask", None, {"reason": "x"}), {"text": "and"}),
    snapshot(held(interruptedBy="genkit-middleware/toolApproval"), parentId="p-0"),
    snapshot(finishReason="stop", createdAt="2026-11-29T19:04:20.859599+00:00"),
    output(request(ref=None), request(ref=None), snapshotId=None, state={"messages": [{"a": 1}]}),
    {
        "protocol": "genkit",
        "agent": "bank",
        "stateManagement": "client",
        "runtime": "js",
        "output": output(
            request("plain", "p", None, pendingOutput=0), request(), state={"messages": []}
        ),
    },
    {"result": output({"text": "done"}, reason="stop")},
    {"modelChunk": {"role": "tool", "content": [request()]}},
)
GENKITS = (
    GENKIT,
    configured({"*": {"action": "restart", "refusal": {}}}, runtime="py", agent="bank"),
    configured({"pay": {"output_schema": {}}}, runtime="js", state_management="client"),
    configured(
        {"pay": {"action": "restart", "allow_revised_input": True}},
        runtime="go",
        state_management="server",
    ),
)


@given(
    mutated(SEEDS, PARTS), st.sampled_from(GENKITS), st.sampled_from([None, b"", b"t-1", b"\xff"])
)
@settings(max_examples=600, deadline=None)
def test_no_record_makes_the_reader_raise(record: Any, genkit: Any, key: bytes | None) -> None:
    """A refusal makes no input, and only an interrupted turn asks. What asks can be answered."""
    reading = read(json.dumps(record), genkit, key)
    assert not (reading.refusal and reading.inputs)
    if not any(isinstance(found, Interrupted) for found in reading.inputs):
        return
    asked = questions(reading)
    assert asked
    assert len({question.interrupt_id for question in asked}) == len(asked)
    turn = record
    for member in ("output", "snapshot", "result"):
        if "finishReason" not in turn or turn["finishReason"] is None:
            turn = turn.get(member) or turn
    assert turn["finishReason"] == "interrupted"


@given(mutated(SEEDS, PARTS), st.sampled_from(GENKITS))
@settings(max_examples=300, deadline=None)
def test_whatever_asks_ends_in_one_command_or_a_reason(record: Any, genkit: Any) -> None:
    """However odd the turn, its resume can be built."""
    reading = read(json.dumps(record), genkit)
    if not questions(reading):
        return
    desk = Desk(json.dumps(record), genkit)
    for index, question in enumerate(desk.questions):
        desk.answer(index, {"toolApproved": True}, action=question.actions[0])
    if desk.native is None:
        desk.expire()
    assert (desk.native is None) == bool(desk.dead)
    if desk.native is not None:
        assert (desk.native.method, set(desk.body)) == ("resume", {"data", "init"})


@given(st.sampled_from(SEEDS), st.data())
@settings(max_examples=500, deadline=None)
def test_no_bytes_make_the_reader_raise(record: Any, data: st.DataObject) -> None:
    """Cut, overwritten and inserted bytes."""
    reading = read(damaged(record, data))
    assert not (reading.refusal and reading.inputs)
