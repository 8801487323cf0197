"""Wrapped records through a slot: events of three protocols, answers, operations, keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from bridge.core.model import Limits, SourcePolicy
from bridge.core.record import Record
from bridge.core.schema import SchemaCache
from bridge.protocols import configured
from bridge.protocols.framing import read_pointer
from bridge.records.outgoing import Outgoing
from bridge.slot.desk import Desk, Source
from tests.unit.protocols.a2a_events import status
from tests.unit.protocols.genkit_turns import output, request, snapshot
from tests.unit.protocols.test_framing import FRAMES
from tests.unit.slot.desk import EVENTS, TOPICS, Bench, answer, event, raw, sent

OPTIONS: Mapping[str, dict[str, object]] = {
    "ag-ui": {},
    "a2a": {},
    "genkit": {"agent": "bank", "runtime": "js", "tools": {"pay": {"action": "restart"}}},
}
ASKS: Mapping[str, Any] = {
    "ag-ui": json.loads(event().value or b""),
    "a2a": status("INPUT_REQUIRED", {"text": "sure?"}, at="2027-01-15T08:00:00.000Z"),
    "genkit": output(request()),
}
TRACE = b"00-113ad9c4e42b27583ae98ba698d54255-e3743e35ff56f219-01"


def bench(protocol: str = "ag-ui", pointer: str = "", slots: int = 1) -> Bench:
    tokens = read_pointer(pointer) if pointer else ()
    source = Source(
        "agents", configured(protocol, OPTIONS[protocol], False), SourcePolicy(), tokens
    )
    return Bench(Desk(0, slots, {EVENTS: source}, TOPICS, Limits(), SchemaCache(16)))


def record(value: Any, key: bytes | None = b"t-1", offset: int = 0) -> Record:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return raw(text, EVENTS, key, offset)


def letters(outgoing: list[Outgoing]) -> list[tuple[str, str]]:
    """(reason, detail) of each dead letter."""
    found = [dict(one.headers) for one in outgoing if one.topic == "dead-letters"]
    return [(one["bridge-reason"].decode(), one["bridge-detail"].decode()) for one in found]


def approvals(outgoing: list[Outgoing]) -> list[dict[str, Any]]:
    """Without what tells when and where from."""
    return [{**one, "published_at": ""} for one in sent(outgoing, "approvals")]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("protocol", OPTIONS)
def test_a_wrapped_event_asks_what_the_bare_one_asks(protocol: str, frame: str) -> None:
    """Under the same ids; what was taken off is counted."""
    bare = json.dumps(ASKS[protocol]).encode()
    slot = bench(protocol)
    wrapped = slot.cycle(record(FRAMES[frame](bare)))
    assert approvals(wrapped) == approvals(bench(protocol).cycle(record(bare))) != []
    assert any(label.startswith("framing_") for _, label in slot.counts)


@pytest.mark.parametrize("frame", FRAMES)
def test_wrapped_answers_and_operations_are_read(frame: str) -> None:
    """By the same room: a bus wraps whatever it is given."""
    wrap = FRAMES[frame]
    slot = bench()
    slot.cycle(event(ids=("i-1",)), event(run="r-2", thread="t-2", offset=1))
    given = raw(wrap(answer().value or b""), TOPICS["answers"])
    op = {"op": "withdraw", "source": "agents", "thread_id": "t-2", "run_id": "r-2"}
    withdraws = raw(wrap(json.dumps(op).encode()), TOPICS["operations"], offset=1)
    outgoing = slot.cycle(given, withdraws)
    assert [one["verdict"] for one in sent(outgoing, "answer-verdicts")] == ["accepted", "accepted"]


def test_what_hops_and_what_is_put_aside_is_the_record_as_it_came() -> None:
    """The next worker unwraps it again; whoever reads the dead letter sees what was sent."""
    wrap = FRAMES["cloudevent"]
    slot = bench(slots=2)
    away = next(t for t in map(str, range(9)) if _hops(slot, wrap(event(t).value or b"")))
    value, key = wrap(event(away).value or b""), b'"k"'
    (hop,) = slot.cycle(record(value, key))
    assert (hop.topic, hop.value, dict(hop.headers)["bridge-origin-key"]) == ("reroute", value, key)
    broken = wrap(b'{"type":"RUN_FINISHED","outcome":{"type":"interrupt"}}')
    (letter,) = slot.cycle(record(broken, key))
    assert (letter.topic, letter.value, letter.key) == ("dead-letters", broken, key)


def _hops(slot: Bench, value: bytes) -> bool:
    return [one.topic for one in slot.cycle(record(value))] == ["reroute"]


def test_the_trace_of_a_cloudevent_stands_on_the_approval() -> None:
    """As that of a header would."""
    event_ = {"specversion": "1.0", "id": "1", "source": "s", "type": "t", "data": ASKS["ag-ui"]}
    outgoing = bench().cycle(record({**event_, "traceid": TRACE.decode()}))
    assert dict(outgoing[0].headers)["traceparent"] == TRACE


@pytest.mark.parametrize("key", [b'"t-1"', b'{"schema":{"type":"string"},"payload":"t-1"}'])
def test_a_wrapped_key_names_the_thread(key: bytes) -> None:
    """A RUN_ERROR names no thread: the record's key does."""
    slot = bench()
    slot.cycle(record(ASKS["ag-ui"]))
    outgoing = slot.cycle(record({"type": "RUN_ERROR", "message": "529"}, key, 1))
    assert [one["flags"] for one in sent(outgoing, "approvals")] == [["run_failed"]]


@pytest.mark.parametrize("topic", [EVENTS, TOPICS["answers"], TOPICS["operations"]])
@pytest.mark.parametrize("value", [None, b'{"schema":null,"payload":null}'])
def test_nulls_are_read_past_and_counted(topic: str, value: bytes | None) -> None:
    """A delete, erasure or tombstone asks nothing and answers nothing: no letter, no verdict."""
    slot = bench()
    assert not slot.cycle(raw(value, topic, b"t-1"))
    assert slot.counts["lenient", "null_value"] == 1


WRAPPERS: Mapping[str, tuple[str, Any]] = {
    "own": ("/payload", lambda inner: {"type": "agent.event", "payload": inner}),
    "deep": ("/a/0/b~1c", lambda inner: {"type": "x", "a": [{"b/c": inner}]}),
    "text": ("/data", lambda inner: {"type": "x", "data": json.dumps(inner)}),
    "long": ("/payload", lambda inner: {"type": "x", "payload": inner, "levels": [0.5] * 25_000}),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("protocol", OPTIONS)
def test_a_hidden_question_is_put_aside_and_the_setting_named_reads_it(
    protocol: str, wrapper: str
) -> None:
    """Never read past: somebody waits for it."""
    pointer, wrap = WRAPPERS[wrapper]
    hidden = record(wrap(ASKS[protocol]))
    ((reason, detail),) = letters(bench(protocol).cycle(hidden))
    assert reason == "hidden_question"
    assert f'event_pointer = "{pointer}"' in detail
    asked = approvals(bench(protocol, pointer).cycle(hidden))
    assert asked == approvals(bench(protocol).cycle(record(ASKS[protocol])))


@pytest.mark.parametrize(
    ("protocol", "inner"),
    [
        ("ag-ui", {"type": "run_finished", "outcome": {"type": "INTERRUPT"}}),
        ("ag-ui", {"type": "RunFinished", "outcome": {"interrupts": [{}]}}),
        ("ag-ui", {"type": "CUSTOM", "name": "on_interrupt", "value": {}}),
        ("a2a", {"taskId": "t", "status": {"state": 6}}),
        ("a2a", {"task_id": "t", "status": {"state": "input-required"}}),
        ("a2a", {"id": "t", "status": {"state": "TASK_STATE_AUTH_REQUIRED"}}),
        ("genkit", {"finish_reason": "Interrupted", "message": {}, "state": {"messages": []}}),
        ("genkit", snapshot(request())),
    ],
)
def test_names_and_numbers_in_any_spelling_are_found(protocol: str, inner: Any) -> None:
    """Whoever wraps an event may write it in a way of their own too."""
    ((reason, _),) = letters(bench(protocol).cycle(record({"type": "x", "inside": [inner]})))
    assert reason == "hidden_question"


@pytest.mark.parametrize(
    ("protocol", "value"),
    [
        ("ag-ui", {"type": "NEW_EVENT", "value": {"note": "interrupt the user?"}}),
        ("ag-ui", {"type": "RAW", "event": ASKS["ag-ui"]}),
        ("ag-ui", {"type": "NEW_EVENT", "run": {"type": "RUN_FINISHED", "threadId": "t"}}),
        ("a2a", {"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"text": "input required"}}),
        ("genkit", {"message": {"turnEnd": {"snapshotId": "p", "finishReason": "interrupted"}}}),
        ("genkit", {"snapshots": [{"snapshotId": "p", "finishReason": "interrupted"}]}),
        ("genkit", {"snapshotId": "p", "sessionId": "s", "finishReason": "interrupted"}),
        ("genkit", {"snapshotId": "p", "finishReason": "interrupted", "state": None}),
    ],
)
def test_words_alone_are_no_question(protocol: str, value: Any) -> None:
    """What only speaks of one, and what protocols keep opaque, is read past."""
    assert not bench(protocol).cycle(record(value))


@pytest.mark.parametrize(
    ("protocol", "value", "kind"),
    [
        ("ag-ui", {"type": "NEW_EVENT"}, "unknown_type"),
        ("a2a", {"something": "else"}, "unknown_event"),
        ("genkit", {"type": "x", "payload": 1}, "unknown_shape"),
    ],
)
def test_all_protocols_count_what_they_do_not_know(protocol: str, value: Any, kind: str) -> None:
    """There is an alert on `unknown_…`; a stream of known pieces must not fire it."""
    slot = bench(protocol)
    assert not slot.cycle(record(value))
    assert slot.counts["lenient", kind] == 1
    pieces = bench("genkit")
    pieces.cycle(record({"modelChunk": {"content": []}}), record({"error": {"status": "X"}}))
    assert not pieces.counts["lenient", "unknown_shape"]
