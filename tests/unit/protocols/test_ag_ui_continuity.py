"""A source with continuity: which events tell the context of which run, and what a resume has."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.core.model import (
    Drop,
    Interrupted,
    Keep,
    Limits,
    Outdate,
    Patch,
    RunEnded,
    RunFailed,
    RunStarted,
    ThreadKey,
)
from bridge.protocols import PROTOCOLS, configured
from bridge.protocols.interface import Reading, Record
from tests.unit.protocols.agui_events import ASK, ORIGIN, finished, interrupted, labels, told
from tests.unit.protocols.agui_events import read as read_without

AG_UI = configured("ag-ui", {}, continuity=True)
THREAD = ThreadKey("support", "", "t-1")
INPUT = {
    "threadId": "t-1",
    "runId": "r-1",
    "messages": [{"id": "m-1", "role": "user", "content": "Ann"}],
    "state": {"n": 1},
    "tools": [{"name": "ask"}],
    "context": [{"description": "d", "value": "v"}],
    "forwardedProps": {"p": True},
}


def read(event: Any, key: bytes | None = b"t-1") -> Reading:
    value = event if isinstance(event, bytes) else json.dumps(event).encode()
    return AG_UI.read(Record(value, key, (), ORIGIN), "support", Limits())


def started(**members: Any) -> dict[str, Any]:
    return {"type": "RUN_STARTED", "threadId": "t-1", "runId": "r-1", **members}


def carries(reading: Reading) -> list[tuple[str | None, Any]]:
    """(run id, body as a value) of each context that was told: None for the run that began last,
    and where it is dropped.
    """
    told: list[tuple[str | None, Any]] = []
    for found in reading.inputs:
        match found:
            case Keep():
                told.append((found.run_id, json.loads(found.body)))
            case Patch():
                told.append((None, json.loads(found.members)))
            case Drop():
                told.append((found.run_id, None))
            case Outdate():
                told.append((None, None))
    return told


# --- The start of a run ---------------------------------------------------------------------------


def test_a_run_begins_with_its_input() -> None:
    """Messages of the start stand apart: what the run itself will say is not among them."""
    reading = read(started(input=INPUT))
    assert [type(found) for found in told(reading)] == [RunStarted, Keep]
    kept = {name: INPUT[name] for name in ("state", "tools", "context", "forwardedProps")}
    assert carries(reading) == [("r-1", {"startMessages": INPUT["messages"], **kept})]


@pytest.mark.parametrize(
    ("given", "label"),
    [
        ({**INPUT, "threadId": "t-2"}, "foreign_input"),
        ({**INPUT, "threadId": 7}, "foreign_input"),
        ({"messages": {}}, "input_member"),
    ],
)
def test_an_input_that_cannot_be_used_tells_nothing(given: Any, label: str) -> None:
    """Another thread's input is never this one's context; the event itself is read all the same."""
    reading = read(started(input=given))
    assert carries(reading) == [("r-1", {})]
    assert label in labels(reading)


def test_a_run_without_an_input_begins_with_nothing() -> None:
    """The thread is known from here on, and older contexts are not the new run's."""
    assert carries(read(started())) == [("r-1", {})]


# --- What changes on the way ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "change"),
    [
        ({"type": "MESSAGES_SNAPSHOT", "messages": [1]}, {"messages": [1], "startMessages": None}),
        ({"type": "STATE_SNAPSHOT", "snapshot": 5}, {"state": 5, "stateOmitted": None}),
        ({"type": "STATE_SNAPSHOT", "snapshot": None}, {"state": None, "stateOmitted": None}),
        ({"type": "STATE_DELTA", "delta": []}, {"state": None, "stateOmitted": True}),
    ],
)
def test_a_snapshot_changes_the_run_under_way(event: Any, change: Any) -> None:
    """On the thread that the record's key names; a delta makes the state unknown."""
    (carry,) = read(event).inputs
    assert isinstance(carry, Patch)
    assert carry.thread == THREAD
    assert carries(read(event)) == [(None, change)]


@pytest.mark.parametrize("key", [None, b"", b"\xff"])
def test_a_snapshot_without_a_thread_is_counted(key: bytes | None) -> None:
    """Nothing says whose it is; the records around it say nothing either."""
    reading = read({"type": "MESSAGES_SNAPSHOT", "messages": []}, key=key)
    assert (reading.inputs, reading.refusal) == ((), None)
    assert [count.metric for count in reading.counts] == ["unattributable"]


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (b'{"type":"MESSAGES_SNAPSHOT","messages":[NaN]}', "json_rules"),
        (b'{"type":"MESSAGES_SNAPSHOT","messages":["\\ud800"]}', "json_rules"),
        (b'{"type":"MESSAGES_SNAPSHOT","messages":[{"a":1,"a":2}]}', "json_rules"),
        (b'{"type":"MESSAGES_SNAPSHOT","messages":' + b"[" * 70 + b"]" * 70 + b"}", "too_deep"),
        (b'{"type":"MESSAGES_SNAPSHOT","messages":{}}', "malformed"),
    ],
)
def test_a_snapshot_that_breaks_a_rule_leaves_the_messages_unknown(
    event: bytes, reason: str
) -> None:
    """It asks nobody anything, so it is no dead letter; what it should replace is outdated."""
    reading = read(event)
    assert reading.refusal is None
    assert carries(reading) == [(None, {"messages": None, "startMessages": None})]
    assert [(c.metric, c.label) for c in reading.counts] == [("carry_dropped", reason)]


@pytest.mark.parametrize("snapshot", [b"NaN", b'{"a":1,"a":2}'])
def test_a_state_that_breaks_a_rule_is_unknown(snapshot: bytes) -> None:
    """The resume says so by a note."""
    reading = read(b'{"type":"STATE_SNAPSHOT","snapshot":%s}' % snapshot)
    assert carries(reading) == [(None, {"state": None, "stateOmitted": True})]


def test_text_and_tool_events_tell_nothing() -> None:
    """Nearly all events of a stream: a peek is all they cost."""
    assert read({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "d"}) == Reading()


# --- The end of a run -----------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", [None, {"type": "success"}, {"type": "cancelled"}])
def test_a_run_that_ends_without_asking_drops_its_context(outcome: Any) -> None:
    """It is named by its id, so another run's context stays, whatever its source reads."""
    lenient = {"type": "RUN_FINISHED", "thread_id": "t-1", "run_id": "r-1", "outcome": outcome}
    for event in (finished(outcome), lenient):
        (ended,) = read(event).inputs
        assert isinstance(ended, RunEnded)
        assert (ended.run_id, ended.asks) == ("r-1", outcome is None)
        record = Record(json.dumps(event).encode(), b"t-1", (), ORIGIN)
        without = configured("ag-ui", {"legacy": False}, continuity=True)
        assert carries(without.read(record, "support", Limits())) == [("r-1", None)]


def test_an_error_ends_the_run_under_way() -> None:
    """It names no run; a run that asked before is not under way any more."""
    reading = read({"type": "RUN_ERROR", "message": "m"})
    assert [type(found) for found in told(reading)] == [RunFailed, Outdate]
    assert carries(reading) == [(None, None)]
    assert not read({"type": "RUN_ERROR", "message": "m"}, key=None).inputs


def test_a_run_that_asks_keeps_its_context() -> None:
    """A bare event tells nothing of it."""
    assert [type(found) for found in told(read(interrupted(ASK)))] == [Interrupted]


# --- Envelopes ------------------------------------------------------------------------------------


def test_an_envelope_has_the_context_as_it_is_at_the_end() -> None:
    """It comes before the question, and the question is the same as in the bare event."""
    bare = interrupted(ASK)
    reading = read({"event": bare, "input": INPUT, "platform": 1})
    carry, asked = told(reading)
    assert isinstance(carry, Keep)
    assert asked == read_without(bare).inputs[0]
    kept = ("messages", "state", "tools", "context", "forwardedProps")
    assert carries(reading) == [("r-1", {name: INPUT[name] for name in kept})]


def test_an_envelope_around_the_start_has_its_input() -> None:
    """The event's own input counts where both have one."""
    assert carries(read({"event": started(), "input": {"state": 1}})) == [("r-1", {"state": 1})]
    both = {"event": started(input={"state": 2}), "input": {"state": 1}}
    assert carries(read(both)) == [("r-1", {"state": 2})]


@pytest.mark.parametrize("given", [{}, {"input": None}])
def test_an_envelope_without_an_input_is_its_event(given: Any) -> None:
    """Whatever it is around."""
    for event in (interrupted(ASK), finished(), {"type": "STATE_SNAPSHOT", "snapshot": 1}):
        assert read({"event": event, **given}) == read(event)
    assert read({"event": {"type": "STEP_STARTED"}, "input": INPUT}) == Reading()


@pytest.mark.parametrize("given", [{**INPUT, "threadId": "t-2"}, [], "x"])
def test_an_envelope_around_another_threads_input_tells_nothing_of_it(given: Any) -> None:
    """The question itself is asked."""
    reading = read({"event": interrupted(ASK), "input": given})
    assert carries(reading) == [("r-1", {})]
    assert isinstance(reading.inputs[1], Interrupted)


@pytest.mark.parametrize(
    ("value", "reason", "pointer"),
    [
        (b'{"event":{"type":"RUN_FINISHED","runId":"r"}}', "malformed", "/event/threadId"),
        (b'{"event":{"outcome":1}}', "malformed", "/event/type"),
        (b'{"event":{"event":{"type":"RUN_STARTED"}}}', "malformed", "/event/type"),
        (b'{"event":7}', "malformed", "/event"),
        (b'{"event":null}', "malformed", "/type"),
        (b'{"input":{}}', "malformed", "/type"),
        (b'{"event":{"type":"RUN_FINISHED"},"input":{"state":NaN}}', "json_rules", ""),
        (b'{"event":{"type":"RUN_FINISHED"},"event":{"type":"RAW"}}', "json_rules", ""),
    ],
)
def test_an_envelope_that_cannot_be_read_is_refused(
    value: bytes, reason: str, pointer: str
) -> None:
    """Its event may ask something, so it is never read past; pointers are into the record."""
    refusal = read(value).refusal
    assert refusal is not None
    assert (refusal.reason, refusal.pointer) == (reason, pointer)


def test_a_source_without_continuity_says_what_an_envelope_is() -> None:
    """Somebody who forgot the setting finds it named in the dead letter."""
    refusal = read_without({"event": interrupted(ASK), "input": INPUT}).refusal
    assert refusal is not None
    assert "continuity" in refusal.detail


# --- What a resume has ----------------------------------------------------------------------------


def test_slices_go_out_as_they_came() -> None:
    """Number literals, key order and escapes, from the record to what is kept."""
    messages = b'[{"z":1e2,"a":50.0,"big":18446744073709551617,"e":"\\ud83d\\ude00"}]'
    reading = read(
        b'{"input":{"messages":%s},"event":%s}' % (messages, json.dumps(interrupted(ASK)).encode())
    )
    (carry, _) = told(reading)
    assert isinstance(carry, Keep)
    assert carry.body == b'{"messages":' + messages + b"}"


def test_only_ag_ui_has_continuity() -> None:
    """Asked of another protocol, the setting is refused by name."""
    for name in set(PROTOCOLS) - {"ag-ui"}:
        with pytest.raises(ValueError, match="continuity is for ag-ui only"):
            configured(name, {}, continuity=True)
