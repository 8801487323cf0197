"""Turns of Genkit's runtimes, recorded and made by hand: what is asked, and what is sent.

Every recorded turn is read. Every resume is put as answers to a desk: what the runtimes take well
goes out as it is, what they refuse or take wrongly never does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from bridge.core.model import Question
from tests import vectors
from tests.unit.protocols.genkit_turns import (
    Desk,
    collected,
    configured,
    moves,
    only_interrupted,
    output,
    questions,
    read,
    recorded,
    request,
    snapshot,
    turns_in,
)

COLLECTED = collected()
COLLECTED_CASES = [case for case in COLLECTED if case["name"][:2] <= "35"]
TURNS = {**recorded(), **{one["name"]: list(turns_in(one["said"])) for one in COLLECTED}}
RESUMES = vectors.made("genkit", "resumes")
GO = vectors.made("genkit", "go")
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


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.mark.parametrize("turns", [pytest.param(turns, id=name) for name, turns in TURNS.items()])
def test_every_recorded_turn_is_read_by_its_finish_reason(turns: list[dict[str, Any]]) -> None:
    """A paused turn asks for each of its interrupts, a failed one for nothing, though it shows
    the same parts; a completed one says that the session went on."""
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


def pairs() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """(name, output, snapshot) of every paused turn that has both."""
    for name, turns in TURNS.items():
        paused = [turn for turn in turns if turn["finishReason"] == "interrupted"]
        for turn in paused:
            same = [one for one in paused if one.get("snapshotId") == turn.get("snapshotId")]
            snapshots = [one for one in same if "messages" in one.get("state", {})]
            if "message" in turn and turn.get("snapshotId") and snapshots:
                yield name, turn, snapshots[0]


@pytest.mark.parametrize(("output_", "snapshot"), [pytest.param(*p[1:], id=p[0]) for p in pairs()])
def test_an_output_and_its_snapshot_are_the_same_run(
    output_: dict[str, Any], snapshot: dict[str, Any]
) -> None:
    """Thread, run, questions and digest are equal, so whichever comes second changes nothing."""
    by_output, by_snapshot = (only_interrupted(read(turn)) for turn in (output_, snapshot))
    assert by_output == by_snapshot
    assert by_output.run_id == output_["snapshotId"]
    assert by_output.thread.thread_id == output_["sessionId"]


def resumes() -> Iterator[dict[str, Any]]:
    """{name, turn, resume, right, answer}: entries for a paused turn, and whether they are right;
    `answer` is the verdict where an answer itself is refused."""
    for case in RESUMES:
        yield {**case, "turn": output(*case["parts"]), "data": {"resume": case["resume"]}}
    for one in COLLECTED_CASES:
        first, second = one["said"]["turn1"], one["said"]["turn2"]
        data, turn = second["input"], first["output"]
        more = {"resume": data["resume"], "right": one["name"] in SENT_AS_RECORDED}
        refused = REFUSED_ANSWERS.get(one["name"])
        yield {"name": one["name"], "turn": turn, "data": data, "answer": refused, **more}


@pytest.mark.parametrize("case", list(resumes()), ids=named)
def test_a_resume_goes_out_only_if_it_is_right(case: dict[str, Any]) -> None:
    """Its entries as answers; a question that they leave open expires."""
    turn = case["turn"]
    desk = Desk(turn, configured(TOOLS, runtime="py"))
    verdicts = _answer(desk, case["resume"])
    refused = case.get("answer")
    assert refused is None or refused in verdicts
    if desk.native is None and desk.thread.runs[-1].is_open:
        desk.expire()
    sent = None if desk.native is None else desk.body
    if case["right"]:
        assert sent is not None
        assert sent["data"] == case["data"]
        assert sent["init"] == {k: turn[k] for k in ("sessionId", "snapshotId")}
    else:
        assert sent is None or _exactly(sent["data"]) != _exactly(case["data"])
        _check_whole(sent, turn)


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


@pytest.mark.parametrize("runtime", ["go", "js", "py"])
def test_the_state_of_a_client_goes_back_unchanged(runtime: str) -> None:
    """No ids in init, which such an agent refuses; thread and run are known all the same."""
    asked, resumed = vectors.recordings("genkit")[f"genkit-{runtime}-client"]["cases"]["answered"]
    turn = asked["records"][-1]["value"]  # after what was streamed
    desk = Desk(turn, configured({"*": {"action": "respond"}}, runtime=runtime))
    assert desk.answer(0, {"answer": "agreed-4711"}) == "accepted"
    assert desk.body == resumed["about"]["body"]
    assert desk.body["init"] == {"state": turn["output"]["state"]}
    assert desk.native is not None
    assert "snapshotId" not in desk.body["init"]


def test_a_second_pause_with_the_same_name_and_ref_is_another_question() -> None:
    """An old response would answer the new question, so its id must not name it."""
    cases = vectors.recordings("genkit")["genkit-py-insists"]["cases"]["asks again"]
    told = [each["value"] for said in cases for each in said["records"]]
    paused = [one for one in told if one["output"]["finishReason"] == "interrupted"]
    first, second = (only_interrupted(read(one)) for one in paused)
    assert first.thread == second.thread
    assert first.questions[0].tool_call_id == second.questions[0].tool_call_id
    assert first.run_id != second.run_id
    assert first.questions[0].interrupt_id != second.questions[0].interrupt_id


def test_a_detached_turn_asks_once_its_snapshot_says_so() -> None:
    """The output names a snapshot that is not there yet."""
    detached = {"sessionId": "s-1", "snapshotId": "p-1", "finishReason": "detached"}
    assert read(detached).inputs == ()
    assert only_interrupted(read(snapshot(request()))).run_id == "p-1"


def holds() -> Iterator[dict[str, Any]]:
    """{name, turn, resume, verdict, sent}."""
    for case in vectors.made("genkit", "holds"):
        yield {**case, "turn": output(case["part"])}
    found = [one["said"] for one in COLLECTED if one["name"] == "70_tool_approval_hold"]
    for label, case in (found[0] if found else {}).items():
        good = label in ("approve", "respond_denied", "approve_tool_with_own_question")
        denied = {**case["turn1"]["message"]["content"][0]["toolRequest"]}
        denied.pop("input")
        response = {"toolResponse": {**denied, "output": {"denied": True}}}
        refusal = {"respond": [{**response, "metadata": {"interruptResponse": True}}]}
        sent = case["resume"] if good else refusal if label == "deny_false" else None
        verdict = "invalid_payload" if sent is None else "accepted"
        told = {"turn": case["turn1"], "resume": case["resume"], "verdict": verdict, "sent": sent}
        yield {"name": f"collected: {label}", **told}


@pytest.mark.parametrize("case", list(holds()), ids=named)
def test_a_held_call_runs_for_the_boolean_alone(case: dict[str, Any]) -> None:
    """Python lets it run for the text "no", and asks again for a false: neither is ever sent."""
    desk = Desk(case["turn"], configured({"*": {"refusal": {"denied": True}}}, runtime="py"))
    assert desk.questions[0].actions == ("restart", "respond")
    assert _answer(desk, case["resume"]) == [case["verdict"]]
    if case["sent"] is None:
        assert desk.native is None
    else:
        assert _exactly(desk.resume) == _exactly(case["sent"])


# --- Go's shapes, from the protocol's texts ------------------------------------------------------


@pytest.mark.parametrize("label", list(GO["asks"]))
def test_interrupted_parts_of_go_ask(label: str) -> None:
    """Bare, typed, held by the middleware and by its judge."""
    turn = output(GO["asks"][label], GO["silent"]["settled"])
    (question,) = questions(read(turn, configured(runtime="go")))
    is_held = label.startswith("held")
    assert question.reason == ("tool_approval" if is_held else "tool_interrupt")
    assert question.flags == (() if is_held else ("no_refusal",))


@pytest.mark.parametrize("label", list(GO["silent"]))
def test_settled_and_resolved_parts_of_go_do_not_ask(label: str) -> None:
    """They alone would be a paused turn that asks nothing."""
    reading = read(output(GO["silent"][label]))
    assert reading.refusal is not None
    assert reading.refusal.reason == "no_interrupts"


@pytest.mark.parametrize("label", list(GO["entries"]))
def test_entries_for_go_are_those_of_its_own_helpers(label: str) -> None:
    """Restart with and without payload or another input, respond, approve and deny."""
    case = GO["entries"][label]
    part = GO["asks"]["a typed question"]
    if "hold" in case:
        held = {"interrupt": {"message": "Tool not in approved list: transferMoney"}}
        part = {**part, "metadata": {**held, "interruptedBy": case["hold"]}}
    action = case["more"].get("action", "restart")
    tool = {"action": action, "allow_revised_input": action == "restart"}
    desk = Desk(output(part), configured({"transferMoney": tool}, runtime="go"))
    more = dict(case["more"])
    if "revised_input" in more:
        more["revised_input"] = json.dumps(more["revised_input"], ensure_ascii=False).encode()
    assert desk.answer(0, case["payload"], **more) == "accepted"
    assert desk.resume == {action: [case["entry"]]}
