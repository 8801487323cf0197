"""Recorded turns of Python genkit 0.12.0, and Go's shapes: what is asked, and what is sent.

Every recorded turn is read. Every recorded resume is put as answers to a desk: what this runtime
took well goes out as it was recorded, what it refused or took wrongly never does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from bridge.core.model import Question
from tests.unit.protocols.genkit_turns import (
    Desk,
    configured,
    moves,
    only_interrupted,
    output,
    questions,
    read,
    request,
    vector_names,
    vectors,
)

PY = "py-0.12.0"
NAMES = vector_names()
CASES = [name for name in NAMES if name[:2] <= "35"]
GO = vectors("go_derived.json")
ENDED = {"stop", "length", "blocked", "other", "unknown"}

# The recorded `data` is what the bridge sends too; the others must never go out.
SENT_AS_RECORDED = {
    "01_restart_ok",
    "02_respond_ok",
    "03_two_both",
    "09_no_ref_request",
    "16_key_order",
    "21_stale_after_user_message",  # whether the turn is still the leaf, the executor checks
    "22_double_delivery",  # one command for a run, so once
    "23_sibling_pending_output",
    "25_restart_interrupts_again",
    "26_unknown_session",  # the ids in `init` come from the turn
    "27_unknown_snapshot",
}
TOOLS = {
    "transferMoney": {"action": "restart", "refusal": {"status": "declined"}},
    "askUser": {
        "action": "respond",
        "output_schema": {
            "type": "object",
            "properties": {"answer": {"type": "string"}},
            "required": ["answer"],
        },
    },
}
# Where an answer itself is refused: the verdict, by the case.
REFUSED_ANSWERS = {
    "28_respond_bad_output_schema": "invalid_payload",
    "30_resumed_false": "invalid_payload",
    "31_resumed_scalar": "invalid_payload",
}


def case_of(name: str) -> dict[str, Any]:
    found = vectors(f"{PY}/{name}")
    assert isinstance(found, dict)
    return found


def turns_in(recording: Any) -> Iterator[dict[str, Any]]:
    """Every output and snapshot in a recording, however deep its labels nest."""
    if isinstance(recording, dict) and ("finishReason" in recording and len(recording) > 2):
        yield recording
    elif isinstance(recording, dict | list):
        for part in recording.values() if isinstance(recording, dict) else recording:
            yield from turns_in(part)


@pytest.mark.parametrize("name", NAMES)
def test_every_recorded_turn_is_read_by_its_finish_reason(name: str) -> None:
    """A paused turn asks for each of its interrupts, a failed one for nothing, though it shows
    the same parts; a completed one says that the session went on."""
    turns = list(turns_in(vectors(f"{PY}/{name}")))
    assert turns
    for turn in turns:
        reading = read(turn, configured(runtime="py"))
        assert reading.refusal is None
        assert [q.tool_call_id for q in questions(reading)] == _expected_refs(turn)
        ended = turn["finishReason"] in ENDED and turn.get("status", "completed") == "completed"
        assert (not questions(reading) and len(moves(reading)) == 1) == ended


def _expected_refs(turn: dict[str, Any]) -> list[str | None]:
    """The refs of distinct interrupted parts, of a paused turn alone."""
    if turn["finishReason"] != "interrupted":
        return []
    message = turn.get("message") or turn["state"]["messages"][-1]
    parts = [part for part in message["content"] if part.get("metadata", {}).get("interrupt")]
    named = [(part["toolRequest"]["name"], part["toolRequest"].get("ref")) for part in parts]
    return [ref for _, ref in dict.fromkeys(named)]


@pytest.mark.parametrize("name", CASES)
def test_an_output_and_its_snapshot_are_the_same_run(name: str) -> None:
    """Thread, run, questions and digest are equal, so whichever comes second changes nothing."""
    turn = case_of(name)["turn1"]
    by_output, by_snapshot = (only_interrupted(read(turn[key])) for key in ("output", "snapshot"))
    assert by_output == by_snapshot
    assert by_output.run_id == turn["output"]["snapshotId"]
    assert by_output.thread.thread_id == turn["output"]["sessionId"]


@pytest.mark.parametrize("name", CASES)
def test_a_recorded_resume_goes_out_only_if_it_was_right(name: str) -> None:
    """The recorded entries as answers; a question that they leave open expires."""
    case = case_of(name)
    recorded = case["turn2"]["input"]
    desk = Desk(case["turn1"]["output"], configured(TOOLS, runtime="py"))
    verdicts = _answer(desk, recorded["resume"])
    label = name.removesuffix(".json")
    assert (REFUSED_ANSWERS.get(label) in verdicts) == (label in REFUSED_ANSWERS)
    if desk.native is None and desk.thread.runs[-1].is_open:
        desk.expire()
    sent = None if desk.native is None else desk.body
    if label in SENT_AS_RECORDED:
        assert sent is not None
        assert sent["data"] == recorded
        turn = case["turn1"]["output"]
        assert sent["init"] == {k: turn[k] for k in ("sessionId", "snapshotId")}
    else:
        assert sent is None or _exactly(sent["data"]) != _exactly(recorded)
        _check_whole(sent, case["turn1"]["output"])


def _exactly(value: Any) -> str:
    """Number texts count: Python takes 50.0 for another input than 50."""
    return json.dumps(value, sort_keys=True)


def _check_whole(sent: Any, turn: dict[str, Any]) -> None:
    """Whatever goes out has one entry for each interrupted (name, ref), its input and no more."""
    if not sent:
        return
    assert set(sent["data"]) == {"resume"}
    assert set(sent["data"]["resume"]) <= {"restart", "respond"}
    asked = {
        (part["toolRequest"]["name"], part["toolRequest"].get("ref")): part["toolRequest"]
        for part in reversed(turn["message"]["content"])
        if "interrupt" in part.get("metadata", {})
    }
    restarts = [part["toolRequest"] for part in sent["data"]["resume"].get("restart", ())]
    responds = [part["toolResponse"] for part in sent["data"]["resume"].get("respond", ())]
    entries = [(part["name"], part.get("ref")) for part in (*restarts, *responds)]
    assert sorted(map(str, entries)) == sorted(map(str, asked))
    for part in restarts:
        assert _exactly(part) == _exactly(asked[part["name"], part.get("ref")])
    assert all("output" in part for part in responds)


def _answer(desk: Desk, resume: dict[str, Any]) -> list[str]:
    """Each recorded entry as the answer to the question it names; entries for none are lost."""
    verdicts = []
    for action, member in (("restart", "toolRequest"), ("respond", "toolResponse")):
        for entry in resume.get(action, ()):
            index = _named(desk.questions, entry.get(member))
            if index is None:
                continue
            payload = entry.get("metadata", {}).get("resumed")
            if member == "toolResponse":
                payload = entry[member].get("output")
            asked = json.loads(desk.questions[index].metadata or b"")
            revised = entry[member].get("input", asked["input"])
            more = {} if _exactly(revised) == _exactly(asked["input"]) else {"revised_input": b"{}"}
            text = None if payload is None else json.dumps(payload).encode()
            verdicts.append(desk.answer_text(index, text, action=action, **more))
    return verdicts


def _named(asked: tuple[Question, ...], request: dict[str, Any] | None) -> int | None:
    for index, question in enumerate(asked):
        metadata = json.loads(question.metadata or b"")
        if request and all(metadata.get(k) == request.get(k) for k in ("name", "ref")):
            return index
    return None


def test_the_state_of_a_client_goes_back_unchanged() -> None:
    """No ids in init, which such an agent refuses; thread and run are known all the same."""
    case = case_of("40_client_managed.json")
    desk = Desk(case["turn1"]["output"], configured(TOOLS, runtime="py"))
    assert desk.answer(0, {"approved": True}) == "accepted"
    assert desk.body["init"] == case["turn2"]["init"]
    assert desk.native is not None
    assert desk.native.notes == ()


def test_a_second_pause_with_the_same_name_and_ref_is_another_question() -> None:
    """An old response would answer the new question, so its id must not name it."""
    steps = [step["output"] for step in vectors(f"{PY}/53_stale_same_ref.json")]
    first, second = (only_interrupted(read(step)) for step in steps[:2])
    assert first.thread == second.thread
    assert first.run_id != second.run_id
    assert first.questions[0].interrupt_id != second.questions[0].interrupt_id


def test_a_detached_turn_asks_once_its_snapshot_says_so() -> None:
    """The output names a snapshot that is not there yet."""
    case = case_of("60_detached_interrupt.json")
    assert read(case["output"]).inputs == ()
    assert only_interrupted(read(case["snapshot"])).run_id == case["output"]["snapshotId"]


@pytest.mark.parametrize("label", list(vectors(f"{PY}/70_tool_approval_hold.json")))
def test_a_held_call_runs_for_the_boolean_alone(label: str) -> None:
    """Python lets it run for the text "no", and asks again for a false: neither is ever sent."""
    case = vectors(f"{PY}/70_tool_approval_hold.json")[label]
    desk = Desk(case["turn1"], configured({"*": {"refusal": {"denied": True}}}, runtime="py"))
    assert desk.questions[0].actions == ("restart", "respond")
    (verdict,) = _answer(desk, case["resume"])
    if label in ("approve", "respond_denied", "approve_tool_with_own_question"):
        assert (verdict, desk.resume) == ("accepted", case["resume"])
    elif label == "deny_false":
        assert verdict == "accepted"
        assert desk.resume["respond"][0]["toolResponse"]["output"] == {"denied": True}
    else:
        assert (verdict, desk.native) == ("invalid_payload", None)


# --- Go, from its sources -------------------------------------------------------------------------


@pytest.mark.parametrize("label", [name for name in GO if name.startswith("interrupted_part")])
def test_interrupted_parts_of_go_ask(label: str) -> None:
    """Bare, typed, held by the middleware and by its judge."""
    turn = output(GO[label], GO["settled_sibling_part"])
    (question,) = questions(read(turn, configured(runtime="go")))
    is_held = "middleware" in label or "judge" in label
    assert question.reason == ("tool_approval" if is_held else "tool_interrupt")
    assert question.flags == (() if is_held else ("no_refusal",))


def test_settled_and_resolved_parts_of_go_do_not_ask() -> None:
    """They alone would be a paused turn that asks nothing."""
    reading = read(output(GO["settled_sibling_part"], GO["resolved_part"]))
    assert reading.refusal is not None
    assert reading.refusal.reason == "no_interrupts"


@pytest.mark.parametrize(
    ("label", "payload", "more"),
    [
        ("restart_typed", {"approved": True}, {}),
        ("restart_bare", None, {}),
        ("restart_bare", True, {}),
        (
            "restart_with_input",
            {"approved": True},
            {"revised_input": b'{"to":"payee-1","amount":20}'},
        ),
        ("respond", {"confirmationId": "manual-approval"}, {"action": "respond"}),
        ("hold_approve", {"toolApproved": True}, {}),
        ("hold_deny", {"toolApproved": False, "reason": "not on my machine"}, {}),
    ],
)
def test_entries_for_go_are_those_of_its_own_helpers(
    label: str, payload: Any, more: dict[str, Any]
) -> None:
    """Restart with and without payload or another input, respond, approve and deny."""
    entry = GO[label]
    named = entry.get("toolRequest") or entry["toolResponse"]
    part = request(named["name"], named["ref"])
    if label.startswith("hold"):
        part["metadata"] = GO["interrupted_part_from_middleware_hold"]["metadata"]
        part["toolRequest"]["input"] = named["input"]
    action = more.get("action", "restart")
    tool = {"action": action, "allow_revised_input": action == "restart"}
    desk = Desk(output(part), configured({"transferMoney": tool}, runtime="go"))
    assert desk.answer(0, payload, **more) == "accepted"
    assert desk.resume == {action: [entry]}


def test_the_body_is_what_go_takes_over_http() -> None:
    """`data` and `init` in the form of the recorded request, which sends an empty list more."""
    entry = GO["http_resume"]["data"]["resume"]["restart"][0]
    turn = output(request("transferMoney", "r1"), sessionId="S", snapshotId="P")
    desk = Desk(turn, configured({"*": {"action": "restart"}}, runtime="go"))
    desk.answer(0, {"approved": True})
    assert desk.body == {**GO["http_resume"], "data": {"resume": {"restart": [entry]}}}
