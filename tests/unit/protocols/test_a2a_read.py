"""What single A2A events mean, and which of them are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.core.model import Drop, Interrupted, Keep, Limits, ThreadEnded, WentOn
from bridge.protocols.a2a.event import Event
from bridge.protocols.a2a.glance import glance
from bridge.protocols.a2a.options import Options
from bridge.protocols.a2a.read import read_closely
from bridge.protocols.interface import Record
from tests.unit.protocols.a2a_events import (
    AT,
    ORIGIN,
    adk_call,
    asked,
    cases,
    encoded,
    hybrid,
    interrupt_artifact,
    labels,
    only_asked,
    read,
    status,
    strands,
    text,
)


def reason(event: Any, **more: Any) -> str | None:
    refusal = read(event, **more).refusal
    return None if refusal is None else refusal.reason


# --- What is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (None, "empty"),
        (b"", "empty"),
        (b"{", "not_json"),
        (b"\xff", "not_json"),
        (b"[]", "malformed"),
        (b'"text"', "malformed"),
        ({"statusUpdate": "x"}, "malformed"),
        ({"statusUpdate": {"status": {"state": "TASK_STATE_INPUT_REQUIRED"}}}, "malformed"),
        ({"task": {"id": 7, "status": {"state": "TASK_STATE_INPUT_REQUIRED"}}}, "malformed"),
        ({"task": {"id": "t"}}, "malformed"),
        ({"task": {"id": "t"}, "message": {}}, "malformed"),
        ({"jsonrpc": "2.0", "result": {}, "error": {"code": -1}}, "malformed"),
        ({"kind": "other", "state": "input-required"}, "malformed"),
        (status("INPUT_REQUIRED", {"text": 5}), "malformed"),
        (status("INPUT_REQUIRED", {"data": {}, "metadata": adk_call("")["metadata"]}), "malformed"),
        (status("USER_CONSENT_REQUIRED"), "unsupported"),
        (status("UNRECOGNIZED"), "unsupported"),
        (status("INPUT_REQUIRED_LATER"), "unsupported"),
        (status(0), "unsupported"),
        (status(99), "unsupported"),
        (status("INPUT_REQUIRED", adk_call("c"), adk_call("c", x=1)), "duplicate_interrupt_id"),
    ],
)
def test_what_cannot_be_read_is_refused(event: Any, expected: str) -> None:
    """With the reason that its dead letter gives."""
    assert reason(event) == expected


def test_two_members_of_which_one_may_be_given_are_refused() -> None:
    """A parser that took the first would hide what the second asks."""
    both = {**status("WORKING"), **{"task": {"id": "t", "status": {"state": 3}}}}
    assert reason(both) == "malformed"
    assert reason({"result": both, "id": 1}) == "malformed"


def test_a_state_that_stands_twice_is_refused() -> None:
    """The later of two equal keys would win without a word."""
    value = json.dumps(status("WORKING")).replace(
        '"state"', '"state": "TASK_STATE_INPUT_REQUIRED", "state"'
    )
    assert reason(value) == "json_rules"


def test_limits_are_held() -> None:
    """Bytes of a record, depth of its JSON, items of a status."""
    assert reason(status("INPUT_REQUIRED"), limits=Limits(record_bytes=10)) == "too_large"
    assert reason(status("INPUT_REQUIRED", text()), limits=Limits(json_depth=3)) == "too_deep"
    many = status("INPUT_REQUIRED", strands("a", "b", "c"))
    assert reason(many, limits=Limits(interrupts_per_run=2)) == "limit"


def test_a_refusal_names_a_place_and_no_value() -> None:
    """Dead letters' details travel further than their records."""
    refusal = read({"result": {"statusUpdate": {"status": {"state": {"a": "SECRET"}}}}}).refusal
    assert refusal is not None
    assert refusal.pointer == "/result/statusUpdate/status/state"
    assert "SECRET" not in refusal.detail


# --- What is read past ---------------------------------------------------------------------------


def test_broken_text_matters_only_where_somebody_is_asked() -> None:
    """Python writes NaN into artifacts, and streams cut emoji in half."""
    done = '{"task":{"id":"t","status":{"state":"TASK_STATE_%s"},"artifacts":[NaN,"\\ud83d"]}}'
    assert [type(found) for found in read(done % "COMPLETED").inputs] == [ThreadEnded, Drop]
    assert reason(done % "INPUT_REQUIRED") == "json_rules"


@pytest.mark.parametrize(
    ("event", "label"),
    [
        ({"timelineUpdate": {"taskId": "t"}}, "unknown_event"),
        ({"jsonrpc": "2.0", "id": 1, "result": None}, "unknown_event"),
        ({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {}}, "jsonrpc_request"),
    ],
)
def test_other_traffic_is_counted(event: Any, label: str) -> None:
    """Nothing of it is silent."""
    reading = read(event)
    assert (reading.refusal, reading.inputs, labels(reading)) == (None, (), {label})


def test_a_page_with_an_unknown_state_still_tells_of_its_other_tasks() -> None:
    """The unknown one is counted."""
    said = status("INPUT_REQUIRED", text())["statusUpdate"]["status"]
    reading = read({"tasks": [{"id": "a", "status": {}}, {"id": "b", "status": said}]})
    assert [event.thread.thread_id for event in asked(reading)] == ["b"]
    assert labels(reading) == {"unknown_state"}


# --- Identity and order --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "headers", "scope"),
    [
        ({}, [], ""),
        ({"agent": "a"}, [("a2a-agent", b"other")], "a"),
        ({"agent": "agent-1", "tenant": "tenant-9"}, [], "agent-1/tenant-9"),
        ({}, [("a2a-agent", b"a"), ("a2a-tenant", b"t/1")], "a/t%2F1"),
        ({"agent": "a/b"}, [], "a/b/"),
        ({"endpoint": "https://x.example/a2a/"}, [], "https://x.example/a2a/"),
    ],
)
def test_the_scope_is_the_agent_and_its_tenant(
    options: dict[str, object], headers: list[tuple[str, bytes]], scope: str
) -> None:
    """Task ids are made per agent; no two pairs make one scope."""
    thread = only_asked(read(status(), options, headers)).thread
    assert (thread.source, thread.scope, thread.thread_id) == ("a2a", scope, "task-1")


@pytest.mark.parametrize("spelling", ["2026-10-06T11:00:00.50+02:00", "2026-10-06T09:00:00.5Z"])
def test_a_made_up_id_is_of_the_instant_and_not_of_its_spelling(spelling: str) -> None:
    """Snapshots come through other servers' clocks and zones."""
    assert only_asked(read(status(at=spelling))).run_id == "at:2026-10-06T09:00:00.5Z"


def test_generation_comes_before_the_timestamp() -> None:
    """In the made-up id and in the order; an int64 is written as a string."""
    event = only_asked(read(status(generation="3")))
    assert (event.run_id, event.order.generation) == ("generation:3", 3)
    (moved,) = read(status("WORKING", generation=2)).inputs
    assert isinstance(moved, WentOn)
    assert moved.order.generation == 2


@pytest.mark.parametrize("generation", ["0", 0, "-1", "x", str(2**63), "٣"])
def test_a_generation_that_is_none_is_none(generation: Any) -> None:
    """Servers without it send zero or nothing."""
    assert only_asked(read(status(generation=generation))).order.generation == 0


def test_an_event_without_a_time_is_as_old_as_its_record() -> None:
    """Also one whose time cannot be read."""
    for at in (None, "soon"):
        assert only_asked(read(status(at=at))).order.at == ORIGIN.timestamp


# --- Questions -----------------------------------------------------------------------------------


def test_numbers_of_an_item_survive_byte_for_byte() -> None:
    """A parser of protobuf would make 1.2345678901234567e+19 of it."""
    value = encoded(status("INPUT_REQUIRED", adk_call("c", n=0)))
    assert value is not None
    value = value.replace(b'"n": 0', b'"n": 12345678901234567890, "m": 1e2, "k": 50.0')
    (question,) = only_asked(read(value)).questions
    assert b'"n":12345678901234567890,"m":1e2,"k":50.0' in (question.metadata or b"").replace(
        b" ", b""
    )


def test_function_calls_are_items_of_one_run() -> None:
    """Their words are the question's own, ADK's confirmations have a schema."""
    confirm = adk_call("c-1", "adk_request_confirmation", toolConfirmation={"hint": "Delete it?"})
    ask = adk_call("c-2", "adk_request_input", message="How many?", response_schema={"type": "x"})
    first, second = only_asked(read(status("INPUT_REQUIRED", confirm, ask))).questions
    assert (first.interrupt_id, first.message) == ("c-1", "Delete it?")
    assert (second.interrupt_id, second.message) == ("c-2", "How many?")
    assert json.loads(first.response_schema or b"")["required"] == ["confirmed"]
    assert second.response_schema is not None
    assert json.loads(second.response_schema) == {"type": "x"}


def test_a_function_response_or_a_short_call_asks_nothing() -> None:
    """Only long-running calls wait."""
    short = adk_call("c")
    short["metadata"]["adk_is_long_running"] = False
    (question,) = only_asked(read(status("INPUT_REQUIRED", text(), short))).questions
    assert question.interrupt_id == "q1"


def test_one_item_twice_is_one_question() -> None:
    """The same part in one message."""
    event = only_asked(read(status("INPUT_REQUIRED", adk_call("c"), adk_call("c"))))
    assert len(event.questions) == 1


def test_interrupts_of_strands_are_items() -> None:
    """Each with its own reason as its words."""
    first, second = only_asked(read(status("INPUT_REQUIRED", text(), strands("a", "b")))).questions
    assert (first.interrupt_id, first.reason, first.message) == ("a", "confirm", "about a")
    assert second.interrupt_id == "b"


@pytest.mark.parametrize(
    ("extension", "asks", "words"),
    [
        ("interactions/approval/v1", {"action": "generic", "title": "Deploy?"}, "Deploy?"),
        ("ui/form_request/v1", {"title": "Where to?", "fields": []}, "Where to?"),
    ],
)
def test_questions_of_agentstack_stand_in_the_metadata(
    extension: str, asks: dict[str, Any], words: str
) -> None:
    """Under the address of their extension, and their answer has a schema."""
    uri = f"https://a2a-extensions.agentstack.beeai.dev/{extension}"
    event = only_asked(read(status("INPUT_REQUIRED", text("Asked"), metadata={uri: asks})))
    (question,) = event.questions
    assert (question.interrupt_id, question.message) == ("q1", words)
    assert question.response_schema is not None
    assert json.loads(question.metadata or b"")["item"] == asks


def test_a_plain_question_shows_what_is_no_text() -> None:
    """Data and files are part of what is asked."""
    files = {"url": "https://files.example/a.png", "mediaType": "image/png"}
    event = only_asked(read(status("INPUT_REQUIRED", text(), {"data": 5}, files)))
    assert json.loads(event.questions[0].metadata or b"")["parts"] == [{"data": 5}, files]


def test_the_boxes_of_0_3_rest_are_opened() -> None:
    """Its data is `{"data":{"data":…}}` and its parts are called content."""
    event = status("INPUT_REQUIRED", text())
    message = event["statusUpdate"]["status"]["message"]
    message["content"] = [{"data": {"data": strands("a")["data"]}}]
    del message["parts"]
    assert only_asked(read(event)).questions[0].interrupt_id == "a"


@pytest.mark.parametrize(
    ("wanted", "event", "is_asked"),
    [
        ("none", status(), True),
        ("without_message", status(), False),
        ("without_message", status("INPUT_REQUIRED", text()), True),
        ("without_items", status("INPUT_REQUIRED", text("Anything else?")), False),
        ("without_items", status("INPUT_REQUIRED", strands("a")), True),
        ("without_items", status("AUTH_REQUIRED", text()), True),
    ],
)
def test_agents_that_end_every_turn_so_can_be_filtered(
    wanted: str, event: Any, is_asked: bool
) -> None:
    """What is filtered out is counted; an authorization never is."""
    reading = read(event, {"input_required_filter": wanted})
    assert bool(asked(reading)) is is_asked
    assert ("filtered_input_required" in labels(reading)) is not is_asked


def test_a_question_takes_kept_items_with_it() -> None:
    """An artifact keeps them; the status that asks uses them up."""
    (kept,) = read(interrupt_artifact("a")).inputs
    assert isinstance(kept, Keep)
    _, event, dropped = read(hybrid()).inputs
    assert isinstance(event, Interrupted)
    assert isinstance(dropped, Drop)
    assert dropped.run_id == kept.run_id
    assert event.thread == dropped.thread == kept.thread


def test_an_error_without_a_key_is_nobodys() -> None:
    """It names no task itself."""
    reading = read({"jsonrpc": "2.0", "id": 1, "error": {"code": -32002}}, key=None)
    assert reading.inputs == ()
    assert labels(reading) == {"error_envelope", "a2a"}


@pytest.mark.parametrize(
    ("code", "words"), [(-32001, "Task not found"), (-32004, "Stream not supported"), (-32602, "x")]
)
def test_an_error_about_another_request_closes_nothing(code: int, words: str) -> None:
    """A server may have lost a stream, or never had one, and still hold the task."""
    error = {"code": code, "message": words}
    assert read({"jsonrpc": "2.0", "id": 1, "error": error}).inputs == ()


def test_an_error_of_the_rest_binding_is_told_by_its_reason() -> None:
    """Its code is the one of HTTP."""
    details = [{"reason": "TASK_NOT_CANCELABLE", "domain": "a2a-protocol.org"}]
    (moved,) = read({"error": {"code": 400, "message": "", "details": details}}).inputs
    assert isinstance(moved, ThreadEnded)


# --- The short way -------------------------------------------------------------------------------

LONG_WAYS = [
    *(case["event"] for case in cases()),
    *(status(state, text(), at=at) for state in ("WORKING", "FAILED", 3) for at in (AT, None)),
    *(status("WORKING", at=at) for at in ("2026-10-06T09:00:00.123456789Z", "x", "20261006")),
    *(status("WORKING", at=at) for at in ("2016-12-31T23:59:60Z", "2026-10-06 09:00:00Z")),
    {**status("WORKING"), "result": status("FAILED")},
    {"task": {"id": "", "status": {"state": "TASK_STATE_WORKING"}}},
    {"kind": "task", "id": 7, "status": {"state": "working"}},
]


@pytest.mark.parametrize("event", LONG_WAYS, ids=range(len(LONG_WAYS)))
def test_the_short_way_says_what_the_long_way_does(event: Any) -> None:
    """Or nothing at all."""
    value = encoded(event)
    assert value is not None
    record = Record(value, b"k", [("a2a-agent", b"a")], ORIGIN)
    short = glance(value, record, "s", Options())
    long = read_closely(Event(value, record, "s", Limits(), Options()))
    assert short is None or short == long


def test_most_events_take_the_short_way() -> None:
    """Otherwise it would be of no use."""
    updates = [c for c in cases() if c["expect"]["kind"] == "status-update"]
    working = [encoded(c["event"]) for c in updates if c["expect"]["state"] == "WORKING"]
    record = Record(b"", b"k", (), ORIGIN)
    short = [value for value in working if glance(value or b"", record, "s", Options())]
    assert len(short) > 0.75 * len(working)
