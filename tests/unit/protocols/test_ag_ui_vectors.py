"""Our verdict on AG-UI events, made by hand and recorded, against those of released readers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from bridge.core.model import Announced, Interrupted, RunFailed, RunStarted
from tests import vectors
from tests.unit.protocols.agui_events import ids, only_interrupted, read, told

MADE = vectors.made("ag_ui", "run_finished")
PYTHON = vectors.verdicts("ag_ui", "ag-ui-protocol")["run_finished"]
CLIENT = vectors.verdicts("ag_ui", "ag-ui-client")["run_finished"]
EVENTS = list(vectors.events("ag_ui"))

# Where the bridge refuses what Python's ag-ui-protocol takes, and why.
STRICTER = {
    "interrupts_on_success": "Python keeps them on a success, where nobody would look for them",
    "duplicate_interrupt_id": "no answer could name one of two questions under one id",
}


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


def read_by_python() -> list[dict[str, Any]]:
    """Events with what ag-ui-protocol 1.0.0 makes of each: {name, event, taken, interrupts}."""
    found = [{**case, **_taken(PYTHON[case["name"]])} for case in MADE]
    for case in vectors.collected_json("agui/oracle_run_finished.json"):
        theirs = case["py_ag_ui_protocol_1_0_0"]
        outcome = theirs.get("redump", {}).get("outcome", {})
        more = {"taken": theirs["verdict"] == "accepted", "interrupts": outcome.get("interrupts")}
        found.append({"name": f"collected: {case['name']}", "event": case["event"], **more})
    return found


def _taken(verdict: dict[str, Any]) -> dict[str, Any]:
    return {"taken": verdict["verdict"] == "accepted", "interrupts": verdict.get("interrupts")}


@pytest.mark.parametrize("case", MADE, ids=named)
def test_run_finished_asks_or_is_refused_as_it_must(case: dict[str, Any]) -> None:
    """The questions in their order, or the reason of the dead letter; never silence."""
    reading = read(case["event"])
    assert (reading.refusal and reading.refusal.reason) == case.get("refusal")
    assert ids(reading) == case.get("asks", [])


@pytest.mark.parametrize("case", read_by_python(), ids=named)
def test_run_finished_is_read_as_python_reads_it(case: dict[str, Any]) -> None:
    """Python's ag-ui-protocol is the measure, but for the named differences."""
    reading = read(case["event"])
    if reading.refusal is not None and reading.refusal.reason in STRICTER:
        assert case["taken"], "no difference any more"
        return
    assert (reading.refusal is None) == case["taken"]
    assert ids(reading) == [item["id"] for item in case["interrupts"] or []]


@pytest.mark.parametrize("case", read_by_python(), ids=named)
def test_fields_of_questions_are_those_python_reads(case: dict[str, Any]) -> None:
    """Message, tool call, schema, metadata and expiry equal Python's, snake_case included."""
    reading = read(case["event"])
    theirs = [] if reading.refusal else case["interrupts"] or []
    for question, their in zip(_questions(case["event"]), theirs, strict=True):
        assert question.reason == their["reason"]
        assert question.message == their.get("message")
        assert question.tool_call_id == their.get("toolCallId")
        assert question.expires_at_raw == their.get("expiresAt")
        assert question.subagent_run_id == their.get("subagentRunId")
        assert _value(question.response_schema) == their.get("responseSchema")
        assert _value(question.metadata) == their.get("metadata")


@pytest.mark.parametrize("case", MADE, ids=named)
def test_what_the_client_waits_for_is_asked_or_refused_with_a_reason(case: dict[str, Any]) -> None:
    """@ag-ui/client 1.0.0: no interrupt that it keeps pending is read past."""
    reading = read(case["event"])
    if CLIENT[case["name"]]["pending"]:
        assert reading.refusal is not None or ids(reading) == CLIENT[case["name"]]["pending"]


def lifecycles() -> list[dict[str, Any]]:
    made = vectors.made("ag_ui", "lifecycles")
    more = vectors.collected_json("agui/oracle_lifecycle.json")
    return [*made, *({**case, "name": f"collected: {case['name']}"} for case in more)]


@pytest.mark.parametrize("case", lifecycles(), ids=named)
def test_every_event_of_a_lifecycle_means_the_same_alone(case: dict[str, Any]) -> None:
    """The reader has no stream state: order, open steps and subagents change no verdict."""
    for event in (event for step in case["steps"] if isinstance(step, list) for event in step):
        reading = read(event)
        assert reading.refusal is None
        assert [type(found) for found in told(reading)] == _expected_inputs(event)


def _asking(*interrupts: dict[str, Any]) -> dict[str, Any]:
    outcome = {"type": "interrupt", "interrupts": list(interrupts)}
    return {"type": "RUN_FINISHED", "threadId": "t-1", "runId": "r-1", "outcome": outcome}


def _events(recording: Any) -> Any:
    """All emitted events in a recording, however deep its labels nest."""
    if isinstance(recording, dict) and "type" in recording:
        yield recording
    elif isinstance(recording, dict | list):
        for part in recording.values() if isinstance(recording, dict) else recording:
            yield from _events(part)


def producers() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """(who, all its events): the agents tried, and what else was collected of producers."""
    for peer in vectors.recordings("ag_ui"):
        yield peer, [event.value for event in EVENTS if event.peer == peer]
    for name in ("producer_langgraph_py_0.0.47.json", "producer_pydantic_ai_2.68.0.json"):
        yield f"collected: {name}", list(_events(vectors.collected_json(f"agui/{name}")))
    strands = vectors.collected_json("agui/producer_strands_1.0.2.json")
    interrupts = list(strands.values()) if strands else []
    yield "collected: strands", [_asking(*interrupts)] if interrupts else []


@pytest.mark.parametrize(
    "events",
    [pytest.param(events, id=name) for name, events in producers() if events],
)
def test_every_interrupt_of_a_producer_becomes_a_question(events: list[dict[str, Any]]) -> None:
    """Whole runs of released frameworks: no run that asks is missed, none is invented."""
    asking = [event for event in events if _outcome(event) == "interrupt"]
    announced = [event for event in events if event.get("name") == "on_interrupt"]
    assert asking or announced
    for event in events:
        reading = read(event)
        wanted = [item["id"] for item in event["outcome"]["interrupts"]] if event in asking else []
        assert reading.refusal is None
        assert ids(reading) == wanted


@pytest.mark.parametrize("case", vectors.by_case(EVENTS))
def test_every_recorded_event_is_read(case: list[vectors.Told]) -> None:
    """None is refused, and what says something about runs says it alone."""
    for event in case:
        reading = read(event.value, key=(event.key or "").encode())
        assert reading.refusal is None
        if event.value["type"] in ("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR"):
            assert [type(found) for found in told(reading)] == _expected_inputs(event.value)


ANNOUNCED = [event for event in EVENTS if event.value.get("name") == "on_interrupt"]


@pytest.mark.parametrize("event", ANNOUNCED, ids=str)
def test_legacy_announcements_are_counted_and_kept(event: vectors.Told) -> None:
    """For the run of their thread, under the id that the framework gave where it gives one."""
    reading = read(event.value, key=(event.key or "").encode())
    (kept,) = reading.inputs
    assert isinstance(kept, Announced)
    assert [count.label for count in reading.counts] == ["custom_on_interrupt"]
    raw = event.value.get("rawEvent") or {}
    if "id" in raw:
        assert kept.announcement.question.interrupt_id == raw["id"]


def test_both_kinds_of_announcements_are_recorded() -> None:
    """With an id of their own, and without; else the test above would show nothing."""
    assert {"id" in (event.value.get("rawEvent") or {}) for event in ANNOUNCED} == {True, False}


def test_a_resumed_run_that_pauses_again_is_another_run_with_the_same_ids() -> None:
    """Frameworks repeat ids: only the run id tells the questions apart."""
    name = "resumed, and it asks the same again"
    (case,) = (each for each in vectors.made("ag_ui", "lifecycles") if each["name"] == name)
    first, again = (only_interrupted(read(case["steps"][step][-1])) for step in (0, 2))
    assert [q.interrupt_id for q in first.questions] == [q.interrupt_id for q in again.questions]
    assert first.run_id != again.run_id


def _questions(event: dict[str, Any]) -> Any:
    found = [given for given in read(event).inputs if isinstance(given, Interrupted)]
    return found[0].questions if found else ()


def _expected_inputs(event: dict[str, Any]) -> list[type]:
    if _outcome(event) == "interrupt":
        return [Interrupted]
    by_type: dict[str, list[type]] = {"RUN_STARTED": [RunStarted], "RUN_ERROR": [RunFailed]}
    return by_type.get(event["type"], [])


def _outcome(event: dict[str, Any]) -> str | None:
    if event["type"] != "RUN_FINISHED":
        return None
    return str((event.get("outcome") or {}).get("type"))


def _value(text: bytes | None) -> Any:
    return None if text is None else json.loads(text)
