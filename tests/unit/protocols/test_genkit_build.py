"""The one resume that continues a paused turn: what goes out for which answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.protocols.genkit_turns import (
    DECLINED,
    GO_HOLD,
    PAY,
    Desk,
    configured,
    output,
    output_of,
    request,
    snapshot,
)

ABANDON: tuple[Callable[[Desk], object], ...] = (lambda desk: desk.cancel(0), Desk.expire)


# --- Entries --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "resumed"),
    [
        (None, b"true"),
        (b"null", b"true"),
        (b"true", b"true"),
        (b"{}", b"{}"),
        (b'{"n":1e2,"b":50.0}', b'{"n":1e2,"b":50.0}'),
    ],
)
def test_the_payload_of_a_restart_goes_out_as_it_came(
    payload: bytes | None, resumed: bytes
) -> None:
    """None is a bare restart."""
    desk = Desk(output(request()), configured(PAY))
    assert desk.answer_text(0, payload) == "accepted"
    assert desk.native is not None
    assert b'"metadata":{"resumed":' + resumed + b"}" in desk.native.body


@pytest.mark.parametrize("payload", [None, b"null", b"false", b"0", b'""', b"1e2", b'{"a":50.0}'])
def test_a_response_always_has_its_output(payload: bytes | None) -> None:
    """Null is one; a response without the key leaves the tool's output undefined."""
    desk = Desk(output(request()))
    assert desk.answer_text(0, payload) == "accepted"
    assert desk.native is not None
    assert b'"output":' + (payload or b"null") + b"}" in desk.native.body


@pytest.mark.parametrize("payload", [False, 0, 1, "yes", "", [True]])
def test_a_scalar_is_no_payload_of_a_restart(payload: Any) -> None:
    """One runtime drops it, one asks again, one takes it for a bare yes."""
    desk = Desk(output(request()), configured(PAY))
    assert desk.answer(0, payload) == "invalid_payload"
    assert desk.native is None


@pytest.mark.parametrize(
    ("ref", "text"),
    [(None, b'"name":"pay","input"'), ("", b'"ref":""'), ("c1", b'"ref":"c1"')],
)
def test_a_ref_stays_as_it_was(ref: str | None, text: bytes) -> None:
    """Absent and empty are two things to Python and JavaScript."""
    for action in ("restart", "respond"):
        desk = Desk(output(request(ref=ref)), configured({"pay": {"action": action}}))
        desk.answer(0, {})
        assert desk.native is not None
        assert text.replace(b"input", b"output" if action == "respond" else b"input") in (
            desk.native.body
        )


def test_the_input_goes_out_byte_for_byte() -> None:
    """Python compares the text of numbers."""
    slice_ = '{"z":50.0,"a":1e2,"big":18446744073709551617,"s":"\\u00e9"}'
    turn = json.dumps(output(request(input="@"))).replace('"@"', slice_)
    desk = Desk(turn, configured(PAY))
    desk.answer(0)
    assert desk.native is not None
    assert b'"input":' + slice_.encode() in desk.native.body


def test_an_input_of_null_is_not_an_absent_one() -> None:
    """Nor the other way round."""
    absent = {"toolRequest": {"name": "pay"}, "metadata": {"interrupt": True}}
    for part, expected in ((request(input=None), {"name", "ref", "input"}), (absent, {"name"})):
        desk = Desk(output(part), configured(PAY))
        desk.answer(0)
        assert set(desk.resume["restart"][0]["toolRequest"]) == expected


def test_entries_stand_in_the_order_of_the_parts() -> None:
    """However the answers came; exactly one for each, and no empty list."""
    turn = output(request("a", "1"), request("b", "2"), request("c", "3"))
    desk = Desk(turn)
    for index in (2, 0, 1):
        assert desk.native is None
        desk.answer(index, index)
    assert [output_of(entry) for entry in desk.resume["respond"]] == [0, 1, 2]
    assert set(desk.resume) == {"respond"}


# --- Abandoned ------------------------------------------------------------------------------------


def test_an_abandoned_question_sends_the_refusal_of_its_tool() -> None:
    """Cancelled or expired: the model goes on with what the operator declared."""
    for abandon in ABANDON:
        desk = Desk(output(request()), configured(DECLINED))
        abandon(desk)
        assert [output_of(entry) for entry in desk.resume["respond"]] == [{"status": "declined"}]


def test_without_a_refusal_an_abandoned_run_is_given_up() -> None:
    """Flagged when it is published; nothing is made up, and the approvals and a letter say why."""
    for abandon in ABANDON:
        desk = Desk(output(request(), request("ask", "c2")), configured(PAY))
        assert "no_refusal" in desk.questions[0].flags
        desk.answer(1, "yes")
        abandon(desk)
        assert (desk.native, desk.dead) == (None, ["no_refusal_configured"])
        assert desk.thread.runs[0].outcome == "unresumable"


# --- Siblings that ran already --------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, "", False, None])
@pytest.mark.parametrize(("runtime", "sent"), [("js", True), (None, True), ("py", False)])
def test_a_falsy_output_of_a_sibling_is_sent_again_for_javascript(
    value: Any, runtime: str | None, sent: bool
) -> None:
    """It counts as missing there and would block every resume; the others would ignore it."""
    turn = output(request("plain", "p1", None, pendingOutput=value), request())
    desk = Desk(turn, configured(PAY, runtime=runtime))
    desk.answer(0)
    entries = desk.resume.get("respond", [])
    assert [(e["toolResponse"]["ref"], output_of(e)) for e in entries] == [("p1", value)] * sent


def test_an_undefined_output_of_a_sibling_is_sent_as_null() -> None:
    """JSON has no other word for it."""
    desk = Desk(output(request("plain", "p1", None), request()), configured(PAY, runtime="js"))
    desk.answer(0)
    assert output_of(desk.resume["respond"][0]) is None


def test_no_response_for_a_settled_sibling_otherwise() -> None:
    """One more would be ignored, or answer for a call that shares its name and ref."""
    for runtime in ("js", "py", "go"):
        turn = output(request("plain", "p1", None, pendingOutput={"ok": True}), request())
        desk = Desk(turn, configured(PAY, runtime=runtime))
        desk.answer(0)
        assert set(desk.resume) == {"restart"}
    twins = output(request(interrupt=None, pendingOutput=0), request())
    desk = Desk(twins, configured(runtime="js"))
    desk.answer(0, "one")
    assert [output_of(entry) for entry in desk.resume["respond"]] == ["one"]


# --- Ambiguous groups -----------------------------------------------------------------------------


def test_one_response_answers_a_group() -> None:
    """A restart of it is refused when it is answered."""
    desk = Desk(output(request(ref=None), request(ref=None, input={"other": 1})), configured(PAY))
    assert len(desk.questions) == 1
    assert desk.answer(0, {}, action="restart") == "invalid_payload"
    assert desk.answer(0, {"both": 1}) == "accepted"
    assert [output_of(entry) for entry in desk.resume["respond"]] == [{"both": 1}]


# --- The rest of the body -------------------------------------------------------------------------


def test_the_executor_is_told_to_look_at_the_leaf() -> None:
    """By a snapshot's id a resume can run twice; a client's state has nothing to look at."""
    server = Desk(output(request()))
    server.answer(0, 1)
    assert server.body["init"] == {"sessionId": "s-1", "snapshotId": "p-1"}
    assert server.native is not None
    assert server.native.notes == ("check_leaf",)
    text = '{"sessionId":"s","n":1e2,"messages":[{"x":50.0}],"custom":{"a":null}}'
    turn = json.dumps(output(request(), snapshotId=None, state="@")).replace('"@"', text)
    client = Desk(turn)
    client.answer(0, 1)
    assert client.native is not None
    assert client.native.body.endswith(b'"init":{"state":' + text.encode() + b"}}")
    assert client.native.notes == ()


def test_metadata_of_an_answer_has_no_place() -> None:
    """Python rejects the whole resume for a key it does not know; a note says what is left out."""
    desk = Desk(output(request()))
    desk.answer(0, 1, metadata=b'{"by":"approver-1"}')
    assert desk.native is not None
    assert desk.native.notes == ("metadata_omitted", "check_leaf")
    assert b"approver-1" not in desk.native.body


@pytest.mark.parametrize(
    ("later", "confirmed"),
    [
        (output({"text": "done"}, reason="stop", snapshotId="p-2"), True),
        (snapshot(request(), snapshotId="p-2", parentId="p-1"), True),
        (snapshot(request(), snapshotId="p-3", parentId="p-2"), True),
        (output(request(), reason="failed", snapshotId="p-2"), False),
        (output(request()), False),
    ],
)
def test_the_turn_after_the_command_confirms_it(later: Any, confirmed: bool) -> None:
    """Its end, or any turn that asks anew; a failed turn proves nothing."""
    desk = Desk(output(request()))
    desk.answer(0, 1)
    desk.feed(later)
    assert desk.thread.runs[0].confirmed == confirmed


# --- Laws -----------------------------------------------------------------------------------------

REFS = st.sampled_from([None, "", "1", "2"])
PARTS = st.lists(
    st.builds(
        request,
        st.sampled_from(["pay", "ask", "free"]),
        REFS,
        st.sampled_from([True, {"message": "Tool not in approved list: pay"}, None]),
        interruptedBy=st.sampled_from([None, GO_HOLD]),
        input=st.sampled_from([{"n": 50}, {"n": 50.0}, [], None]),
    ),
    min_size=1,
    max_size=6,
)
ANSWERS = st.sampled_from([None, True, False, "no", {}, {"toolApproved": True}, 0])
TOOLS = {**DECLINED, "ask": {"action": "respond"}}


@given(PARTS, st.sampled_from(["go", "js", "py", None]), st.data())
@settings(max_examples=300, deadline=None)
def test_a_resume_is_whole_and_holds_nothing_else(
    parts: list[Any], runtime: str | None, data: st.DataObject
) -> None:
    """Each waiting (name, ref) has exactly one entry, no settled one has any but for JavaScript;
    a held call runs for the boolean alone; known keys only."""
    for part in parts:
        if part["metadata"].get("interrupt") is None:
            part["metadata"] = {"pendingOutput": {"ok": True}}
    waiting = [part for part in parts if "interrupt" in part["metadata"]]
    if not waiting:
        return
    desk = Desk(output(*parts), configured(TOOLS, runtime=runtime))
    for index, question in enumerate(desk.questions):
        action = data.draw(st.sampled_from([None, *question.actions]))
        desk.answer(index, data.draw(ANSWERS), action=action)
    if desk.native is None:
        desk.expire()
    if desk.native is None:
        return
    assert desk.native.method == "resume"
    assert set(desk.body["data"]) == {"resume"}
    entries = [e["toolRequest"] for e in desk.resume.get("restart", ())]
    entries += [e["toolResponse"] for e in desk.resume.get("respond", ())]
    assert sorted(_key(e, runtime) for e in entries) == sorted(
        {_key(part["toolRequest"], runtime) for part in waiting}
    )
    for entry in desk.resume.get("restart", ()):
        assert set(entry) == {"toolRequest", "metadata"}
        assert any(_is_same(entry["toolRequest"], part["toolRequest"]) for part in waiting)
        resumed = entry["metadata"]["resumed"]
        assert resumed is True or isinstance(resumed, dict)
        approved = resumed.get("toolApproved", True) if isinstance(resumed, dict) else True
        assert isinstance(approved, bool)


def _key(named: dict[str, Any], runtime: str | None) -> tuple[str, str]:
    absent = "-" if runtime in ("js", "py") else ""
    return named["name"], named.get("ref", absent)


def _is_same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
