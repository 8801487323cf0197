"""Our verdict on recorded AG-UI events against those of released readers and producers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.core.model import Announced, Interrupted, RunFailed, RunStarted
from tests.unit.protocols.agui_events import ids, only_interrupted, read, told, vectors

RUN_FINISHED = vectors("oracle_run_finished.json")
LIFECYCLE = vectors("oracle_lifecycle.json")
PRODUCERS = (
    "producer_langgraph_py_0.0.47.json",
    "producer_pydantic_ai_2.68.0.json",
)

# Where the bridge decides otherwise than Python ag-ui-protocol 1.0.0: (our verdict, why).
OTHER_THAN_PYTHON = {
    "outcome-success-carrying-interrupts": (
        "interrupts_on_success",
        "Python keeps the interrupts on a success, where nobody would look for them",
    ),
    "outcome-cancelled-carrying-interrupts": (
        "interrupts_on_success",
        "Python keeps the interrupts on a cancelled run, where nobody would look for them",
    ),
    "interrupt-duplicate-ids": (
        "duplicate_interrupt_id",
        "Python accepts two different questions under one id; no answer could name one of them",
    ),
}

# The dead-letter reason where Python refuses too; every other refusal is `malformed`.
REASONS = {
    "outcome-type-missing": "unknown_outcome",
    "interrupt-empty-list": "no_interrupts",
    "interrupt-list-null": "no_interrupts",
}


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.mark.parametrize("case", RUN_FINISHED, ids=named)
def test_run_finished_is_read_as_python_reads_it(case: dict[str, Any]) -> None:
    """Python ag-ui-protocol 1.0.0 is the measure, but for the named differences."""
    reading = read(case["event"])
    python = case["py_ag_ui_protocol_1_0_0"]
    if case["name"] in OTHER_THAN_PYTHON:
        assert python["verdict"] == "accepted", "no difference any more"
        expected: str | None = OTHER_THAN_PYTHON[case["name"]][0]
    else:
        refused = python["verdict"] == "rejected"
        expected = REASONS.get(case["name"], "malformed") if refused else None
    assert (reading.refusal and reading.refusal.reason) == expected
    assert ids(reading) == ([] if expected else python["ids"])


@pytest.mark.parametrize("case", RUN_FINISHED, ids=named)
def test_fields_of_questions_are_those_python_reads(case: dict[str, Any]) -> None:
    """Message, tool call, schema, metadata and expiry equal Python's, snake_case included."""
    for question, theirs in zip(_questions(case["event"]), _python_interrupts(case), strict=True):
        assert question.reason == theirs["reason"]
        assert question.message == theirs.get("message")
        assert question.tool_call_id == theirs.get("toolCallId")
        assert question.expires_at_raw == theirs.get("expiresAt")
        assert question.subagent_run_id == theirs.get("subagentRunId")
        assert _value(question.response_schema) == theirs.get("responseSchema")
        assert _value(question.metadata) == theirs.get("metadata")


@pytest.mark.parametrize("case", LIFECYCLE, ids=named)
def test_every_event_of_a_lifecycle_means_the_same_alone(case: dict[str, Any]) -> None:
    """The reader has no stream state: order, open steps and subagents change no verdict."""
    for event in (event for step in case["steps"] if isinstance(step, list) for event in step):
        reading = read(event)
        assert reading.refusal is None
        assert [type(found) for found in told(reading)] == _expected_inputs(event)


@pytest.mark.parametrize("name", PRODUCERS)
def test_every_interrupt_of_a_producer_becomes_a_question(name: str) -> None:
    """Recorded runs of released frameworks: no run that asks is missed, none is invented."""
    events = list(_events(vectors(name)))
    asked = [event for event in events if _outcome(event) == "interrupt"]
    assert asked
    for event in events:
        reading = read(event)
        wanted = [item["id"] for item in event["outcome"]["interrupts"]] if event in asked else []
        assert reading.refusal is None
        assert ids(reading) == wanted


def test_interrupts_of_strands_become_questions() -> None:
    """Its generic interrupts have no id: the empty string is an id like any other."""
    interrupts = list(vectors("producer_strands_1.0.2.json").values())
    event = {
        "type": "RUN_FINISHED",
        "threadId": "t-1",
        "runId": "r-1",
        "outcome": {"type": "interrupt", "interrupts": interrupts},
    }
    assert ids(read(event)) == [item["id"] for item in interrupts]


def _questions(event: dict[str, Any]) -> Any:
    found = [given for given in read(event).inputs if isinstance(given, Interrupted)]
    return found[0].questions if found else ()


def _python_interrupts(case: dict[str, Any]) -> Any:
    if case["name"] in OTHER_THAN_PYTHON:
        return []
    outcome = case["py_ag_ui_protocol_1_0_0"].get("redump", {}).get("outcome", {})
    return outcome.get("interrupts", [])


def _expected_inputs(event: dict[str, Any]) -> list[type]:
    if _outcome(event) == "interrupt":
        return [Interrupted]
    by_type: dict[str, list[type]] = {"RUN_STARTED": [RunStarted], "RUN_ERROR": [RunFailed]}
    return by_type.get(event["type"], [])


def _outcome(event: dict[str, Any]) -> str | None:
    if event["type"] != "RUN_FINISHED":
        return None
    return str(event.get("outcome", {}).get("type"))


def _events(recording: Any) -> Any:
    """All emitted events in a recording, however deep its labels nest."""
    if isinstance(recording, dict) and "type" in recording:
        yield recording
    elif isinstance(recording, dict | list):
        for part in recording.values() if isinstance(recording, dict) else recording:
            yield from _events(part)


def _value(text: bytes | None) -> Any:
    return None if text is None else json.loads(text)


def test_recordings_hold_what_the_bridge_counts() -> None:
    """LangGraph's legacy CUSTOM events are counted, and kept under the ids that its outcome has."""
    events = [e for e in _events(vectors(PRODUCERS[0])) if e["type"] == "CUSTOM"]
    assert events
    for event in events:
        reading = read(event)
        (kept,) = reading.inputs
        assert isinstance(kept, Announced)
        assert kept.announcement.question.interrupt_id == event["rawEvent"]["id"]
        assert [count.label for count in reading.counts] == ["custom_on_interrupt"]


def test_a_resumed_run_that_pauses_again_is_another_run_with_the_same_ids() -> None:
    """pydantic-ai and LangGraph repeat ids: only the run id tells the questions apart."""
    langgraph = vectors(PRODUCERS[0])["outcome-single"]
    first, again = (
        only_interrupted(read(langgraph[run][-1])) for run in ("run1", "run2_empty_resume")
    )
    assert [q.interrupt_id for q in first.questions] == [q.interrupt_id for q in again.questions]
    assert first.run_id != again.run_id
