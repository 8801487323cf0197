"""Events of A2A agents, recorded and made by hand: each means what it says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.core.model import Keep, ThreadEnded, WentOn
from bridge.protocols.a2a.asked import asked_of
from tests.unit.protocols.a2a_events import asked, cases, labels, only_asked, read

EVENTS = cases()
ASKS = {"INPUT_REQUIRED": "input", "AUTH_REQUIRED": "authorization"}
PHASES = {
    "WORKING": "work",
    "COMPLETED": "task_ended",
    "CANCELED": "task_ended",
    "REJECTED": "run_failed",
    "FAILED": "run_failed",
}


def named(case: dict[str, Any]) -> str:
    return str(case["case"])


def with_state(*states: str) -> list[dict[str, Any]]:
    return [case for case in EVENTS if case["expect"].get("state") in states]


@pytest.mark.parametrize("case", EVENTS, ids=named)
def test_no_recorded_event_is_refused(case: dict[str, Any]) -> None:
    """All five dialects, with their envelopes and without."""
    assert read(case["event"]).refusal is None


@pytest.mark.parametrize("case", with_state(*ASKS), ids=named)
def test_an_interrupted_status_is_the_question_its_recording_says(case: dict[str, Any]) -> None:
    """Task, context, kind and the message's id; one without an id has one made up."""
    event, expect = only_asked(read(case["event"])), case["expect"]
    assert event.thread.thread_id == expect["taskId"]
    assert asked_of(event.native).context == expect["contextId"]
    assert {question.kind for question in event.questions} == {ASKS[expect["state"]]}
    if expect["messageId"] is None:
        assert event.run_id.startswith("at:")
    else:
        assert event.run_id == expect["messageId"]


@pytest.mark.parametrize("case", with_state(*ASKS), ids=named)
def test_the_dialect_that_is_answered_in_is_the_one_that_asked(case: dict[str, Any]) -> None:
    """LangGraph's mix has the method names of 1.0."""
    native = asked_of(only_asked(read(case["event"])).native)
    expected = {
        "1.0": ("1.0", "jsonrpc"),
        "hybrid": ("1.0", "jsonrpc"),
        "0.3-jsonrpc": ("0.3", "jsonrpc"),
        "0.3-rest": ("0.3", "rest"),
    }
    assert (native.version, native.binding) == expected[case["dialect"]]


@pytest.mark.parametrize("case", with_state(*PHASES), ids=named)
def test_any_other_state_moves_its_task_on(case: dict[str, Any]) -> None:
    """A snapshot as well as an update, whatever message its status still holds."""
    moved = read(case["event"]).inputs[0]
    assert isinstance(moved, WentOn | ThreadEnded)
    assert moved.thread.thread_id == case["expect"]["taskId"]
    phase = moved.reason if isinstance(moved, ThreadEnded) else moved.order.rank
    assert phase == PHASES[case["expect"]["state"]]


@pytest.mark.parametrize("case", with_state("SUBMITTED"), ids=named)
def test_the_beginning_of_a_task_moves_nothing_on(case: dict[str, Any]) -> None:
    """No task returns to it: it can only be told again."""
    assert read(case["event"]).inputs == ()


@pytest.mark.parametrize(
    "case", [c for c in EVENTS if c["expect"]["kind"] == "artifact-update"], ids=named
)
def test_an_artifact_closes_nothing(case: dict[str, Any]) -> None:
    """At most it keeps the items of a question that is about to come."""
    assert all(isinstance(found, Keep) for found in read(case["event"]).inputs)


@pytest.mark.parametrize("case", [c for c in EVENTS if c["expect"]["kind"] == "error"], ids=named)
def test_an_error_is_about_the_task_of_its_key(case: dict[str, Any]) -> None:
    """Only one that says the task takes no message any more closes anything."""
    reading = read(case["event"], key=b"task-1")
    assert labels(reading) == {"error_envelope"}
    ends = case["expect"]["code"] in {-32002, -32004}
    assert [type(found) for found in reading.inputs] == ([ThreadEnded] if ends else [])


@pytest.mark.parametrize(
    "case", [c for c in EVENTS if c["expect"]["kind"] == "task-list"], ids=named
)
def test_a_page_of_tasks_asks_for_each_of_its_tasks(case: dict[str, Any]) -> None:
    """Two parked tasks of one context are two threads."""
    found = asked(read(case["event"]))
    assert len({event.thread.thread_id for event in found}) == 2


def langgraphs() -> list[tuple[dict[str, Any], list[Any]]]:
    """Snapshots of LangGraph with its artifact beside the status; the artifact's items."""
    found = []
    for case in with_state("INPUT_REQUIRED"):
        body = case["event"].get("result", case["event"])
        for artifact in body.get("task", body).get("artifacts") or ():
            if artifact.get("name") == "Interrupt":
                found.append((case, [part["data"] for part in artifact["parts"]]))
    return found


@pytest.mark.parametrize(
    ("case", "items"), [pytest.param(*each, id=named(each[0])) for each in langgraphs()]
)
def test_a_snapshot_with_langgraphs_artifact_names_its_items(
    case: dict[str, Any], items: list[Any]
) -> None:
    """Its parallel interrupts are questions of one run, in the order of the artifact's parts."""
    questions = only_asked(read(case["event"])).questions
    assert [q.interrupt_id for q in questions] == [item["id"] for item in items]
    for question, item in zip(questions, items, strict=True):
        assert question.message == item["value"].get("question", question.message)


def test_langgraphs_snapshots_have_one_item_and_several() -> None:
    """In the recordings; else the test above would show less."""
    found = {(case["dialect"], len(items)) for case, items in langgraphs()}
    assert found >= {(kind, n) for kind in ("hybrid", "0.3-jsonrpc") for n in (1, 2)}


def test_the_same_question_in_a_stream_and_in_a_snapshot_is_the_same_content() -> None:
    """Equal run ids have equal digests, whatever wraps the status."""
    by_run: dict[tuple[str, str, str], set[bytes]] = {}
    for case in with_state(*ASKS):
        event = only_asked(read(case["event"]))
        run = (case["exchange"], event.thread.thread_id, event.run_id)
        by_run.setdefault(run, set()).add(event.digest)
    assert any(len(cases) == 1 for cases in by_run.values())
    assert all(len(digests) == 1 for digests in by_run.values())


def with_schema() -> list[dict[str, Any]]:
    name = "with a schema"
    return [c for c in EVENTS if name in c["case"] or c["case"].endswith("ask-schema-2")]


@pytest.mark.parametrize("case", with_schema(), ids=named)
def test_a_schema_in_a_question_reaches_its_answerers(case: dict[str, Any]) -> None:
    """Items say what an answer has to look like, in whichever dialect."""
    (question,) = only_asked(read(case["event"])).questions
    assert question.interrupt_id == "i-1"
    assert json.loads(question.response_schema or b"")["required"] == ["approved"]


def test_where_to_go_is_found_in_the_words_of_an_authorization() -> None:
    """The address ends where the sentence goes on."""
    case = next(case for case in EVENTS if case["case"] == "authorization with an address")
    (question,) = only_asked(read(case["event"])).questions
    assert question.authorize_at == "https://login.example.com/approve/task-1"


@pytest.mark.parametrize(
    "case", [c for c in with_state("AUTH_REQUIRED") if "https://" in str(c["event"])], ids=named
)
def test_every_authorization_with_an_address_says_where_to_go(case: dict[str, Any]) -> None:
    """Recorded ones too."""
    (question,) = only_asked(read(case["event"])).questions
    assert question.authorize_at is not None
    assert question.authorize_at in str(case["event"])
