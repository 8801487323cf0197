"""Records of Genkit agents: which turn asks what, and what is refused or read past."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.core.model import (
    Counted,
    Limits,
    ResumeSeen,
    WentOn,
)
from tests.unit.protocols.genkit_turns import (
    AT,
    configured,
    moves,
    only_interrupted,
    output,
    questions,
    read,
    request,
    snapshot,
)


def reason_and_pointer(turn: Any, **how: Any) -> tuple[str, str] | None:
    refusal = read(turn, **how).refusal
    return None if refusal is None else (refusal.reason, refusal.pointer)


# --- What asks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metadata",
    [
        {"interrupt": False},
        {"interrupt": None},
        {"interrupt": 0},
        {"interrupt": ""},
        {"interrupt": True, "resolvedInterrupt": True},
        {"interrupt": True, "pendingOutput": None},
        {},
    ],
)
def test_a_part_without_an_open_interrupt_does_not_ask(metadata: dict[str, Any]) -> None:
    """And a paused turn of such parts alone is refused: no question is invented."""
    part = {**request(), "metadata": metadata}
    assert reason_and_pointer(output(part)) == ("no_interrupts", "")


@pytest.mark.parametrize("interrupt", [True, {}, {"reason": "x"}, "why", 1, [0]])
def test_whatever_is_truthy_for_a_runtime_asks(interrupt: Any) -> None:
    """Bare, empty and typed interrupts."""
    (question,) = questions(read(output(request(interrupt=interrupt))))
    assert json.loads(question.metadata or b"")["interrupt"] == interrupt


@pytest.mark.parametrize("reason", ["failed", "aborted", "detached"])
def test_parts_alone_never_ask(reason: str) -> None:
    """The output of a failed resume shows the old interrupt; the paused snapshot still stands."""
    reading = read(output(request(), reason=reason, error={"status": "INVALID_ARGUMENT"}))
    assert (reading.inputs, reading.refusal, reading.counts) == ((), None, ())


@pytest.mark.parametrize("status", ["pending", "failed", "aborted", "aborting", "expired"])
def test_a_snapshot_that_is_not_completed_does_not_ask(status: str) -> None:
    """No runtime resumes it; nor does a later end of such a row mean anything."""
    for reason in ("interrupted", "stop"):
        reading = read(snapshot(request(), status=status, finishReason=reason))
        assert (reading.inputs, reading.refusal) == ((), None)


@pytest.mark.parametrize("status", ["", None, "completed"])
def test_an_empty_status_is_completed(status: str | None) -> None:
    """Go leaves it out."""
    assert len(questions(read(snapshot(request(), status=status)))) == 1


def test_the_newest_model_message_counts() -> None:
    """Older messages keep their interrupts; an output's message may be the tool's."""
    turn = snapshot(request("new"))
    old = {"role": "model", "content": [request("old")]}
    turn["state"]["messages"].insert(0, old)
    turn["state"]["messages"].append({"role": "user", "content": [{"text": "?"}]})
    turn["message"] = {"role": "tool", "content": []}
    (question,) = questions(read(turn))
    assert json.loads(question.metadata or b"")["name"] == "new"


# --- Wrappers, identity ---------------------------------------------------------------------------


def wrapped(turn: Any, member: str = "output", **more: Any) -> dict[str, Any]:
    return {"protocol": "genkit", "agent": "bank", member: turn, **more}


def test_a_wrapper_says_what_the_turn_does_not() -> None:
    """Agent and runtime; `result` is what the agent's own URL answers with."""
    for turn in (
        wrapped(output(request())),
        wrapped(snapshot(request()), "snapshot"),
        {"agent": "bank", "result": output(request())},
    ):
        event = only_interrupted(read(turn))
        assert (event.thread.scope, event.thread.thread_id) == ("bank", "s-1")
        assert event.run_id == "p-1"


def test_the_source_names_the_agent_of_bare_turns() -> None:
    """The wrapper goes before it."""
    genkit = configured(agent="desk")
    assert only_interrupted(read(output(request()), genkit)).thread.scope == "desk"
    assert only_interrupted(read(wrapped(output(request())), genkit)).thread.scope == "bank"


@pytest.mark.parametrize(
    ("wrapper", "own", "key", "thread"),
    [
        ("w-1", "s-1", b"k-1", "w-1"),
        (None, "s-1", b"k-1", "s-1"),
        (None, None, b"k-1", "k-1"),
        (None, None, b"\xff", None),
        (None, None, None, None),
    ],
)
def test_a_client_s_turn_may_be_named_around_it(
    wrapper: str | None, own: str | None, key: bytes | None, thread: str | None
) -> None:
    """By the wrapper, by its own id, by the record's key; never by order."""
    turn = output(request(), sessionId=own, snapshotId=None, state={"messages": [{}]})
    reading = read(wrapped(turn, sessionId=wrapper), key=key)
    assert (reading.inputs == ()) == (thread is None)
    if thread is not None:
        assert only_interrupted(reading).thread.thread_id == thread
    else:
        assert reading.refusal is not None
        assert reading.refusal.pointer == "/output/sessionId"


def test_a_server_s_turn_has_its_own_session_id() -> None:
    """The wrapper's counts where the turn has none; a record's key never does."""
    own, none = output(request()), output(request(), sessionId=None)
    for turn, thread in ((own, "s-1"), (none, "w-1")):
        event = only_interrupted(read(wrapped(turn, sessionId="w-1")))
        assert event.thread.thread_id == thread
    assert read(none, key=b"k-1").refusal is not None


def test_a_client_s_run_is_what_was_said_so_far() -> None:
    """Equal histories are one run, whatever their text; a new message makes another."""
    runs = [
        only_interrupted(
            read(output(request(), snapshotId=None, state={"messages": messages}))
        ).run_id
        for messages in ([{"a": 1, "b": 50}], [{"b": 50.0, "a": 1}], [{"a": 1}])
    ]
    assert runs[0] == runs[1] != runs[2]


def test_a_producer_can_tell_a_client_s_turns_apart() -> None:
    """By `turnId` around them: one of Python's that asks the same again is equal to the last."""
    turn = output(request(), snapshotId=None, state={"messages": [{}]})
    asked = [only_interrupted(read(wrapped(turn, turnId=name))) for name in ("t-1", "t-2")]
    assert [one.run_id for one in asked] == ["t-1", "t-2"]
    assert asked[0].questions[0].interrupt_id != asked[1].questions[0].interrupt_id


def test_a_server_s_run_is_its_snapshot() -> None:
    """A resume has to name it, so nothing else counts."""
    event = only_interrupted(read(wrapped(output(request()), turnId="t-1")))
    assert event.run_id == "p-1"


def test_interrupt_ids_are_those_of_the_part() -> None:
    """Stable; other for another agent, session, turn, place, name or ref. No ref is not an empty
    one to Python."""
    turns = [
        output(request()),
        output(request(), sessionId="s-2"),
        output(request(), snapshotId="p-2"),
        output({"text": "well"}, request()),
        output(request("ask")),
        output(request(ref="c2")),
        output(request(ref=None)),
        output(request(ref="")),
        wrapped(output(request())),
    ]
    ids = [questions(read(turn))[0].interrupt_id for turn in turns]
    assert len(set(ids)) == len(ids)
    assert ids == [questions(read(turn))[0].interrupt_id for turn in turns]


def test_what_was_called_stands_in_metadata_as_it_came() -> None:
    """Number texts, key order, an absent or empty ref."""
    text = (
        '{"sessionId":"s","snapshotId":"p","finishReason":"interrupted","message":{"role":"model",'
        '"content":[{"toolRequest":{"name":"pay","input":{"z":50.0,"a":1e2}},'
        '"metadata":{"interrupt":{"reason":"sure?","n":1.10}}}]}}'
    )
    (question,) = questions(read(text))
    assert question.metadata == (
        b'{"name":"pay","index":0,"input":{"z":50.0,"a":1e2},'
        b'"interrupt":{"reason":"sure?","n":1.10},"default_action":"respond",'
        b'"action_schemas":{"restart":{"anyOf":[{"type":"object"},{"enum":[true,null]}]}}}'
    )
    assert (question.message, question.tool_call_id) == ("sure?", None)


# --- Going on -------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["stop", "length", "blocked", "other", "unknown"])
def test_a_completed_turn_says_that_the_session_went_on(reason: str) -> None:
    """By the output or the snapshot."""
    for turn in (output({"text": "done"}, reason=reason), snapshot(finishReason=reason)):
        (move,) = moves(read(turn))
        assert isinstance(move, WentOn)
        assert move.thread.thread_id == "s-1"


def test_an_old_snapshot_written_again_closes_nothing_newer() -> None:
    """A store's change capture may repeat a row; its own time is the earlier one."""
    old, wrong = "2020-01-01T00:00:00Z", "soon"
    assert (
        moves(read(snapshot(finishReason="stop", createdAt=old)))[0].order.at == 1_577_836_800_000
    )
    assert moves(read(snapshot(finishReason="stop", createdAt=wrong)))[0].order.at == AT


def test_a_turn_that_pauses_again_confirms_its_parent() -> None:
    """Without closing anything: the new questions do that."""
    reading = read(snapshot(request(), parentId="p-0"))
    (move,) = moves(reading)
    assert isinstance(move, ResumeSeen)
    assert move.run_id == "p-0"
    assert not moves(read(snapshot(request(), parentId="")))


def test_a_completed_turn_of_nobody_is_counted() -> None:
    """Which thread it belongs to is never guessed."""
    reading = read(output(reason="stop", sessionId=None))
    assert (reading.inputs, reading.counts) == ((), (Counted("unattributable", "agents"),))


# --- Refused, or read past ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        {"modelChunk": {"role": "tool", "content": [request()]}},
        {"message": {"turnEnd": {"snapshotId": "p-1", "finishReason": "interrupted"}}},
        {"customPatch": []},
        {"error": {"status": "NOT_FOUND", "message": "Snapshot X not found"}},
        {"result": "hello"},
        {"status": 3, "snapshot": []},
        '{"modelChunk":{"content":[{"text":"\\ud83d"}]}}',
        '{"modelChunk":{"content":[{"data":NaN}]}}',
    ],
)
def test_what_ends_no_turn_is_read_past(record: Any) -> None:
    """Stream chunks, errors, and what other programs write to a shared topic."""
    reading = read(record)
    assert (reading.inputs, reading.refusal) == ((), None)


@pytest.mark.parametrize(
    ("record", "refused"),
    [
        (None, ("empty", "")),
        ("", ("empty", "")),
        ("{", ("not_json", "")),
        ("[]", ("malformed", "")),
        ({"protocol": "genkit"}, ("malformed", "")),
        ({"protocol": "genkit", "output": 3}, ("malformed", "/output")),
        (wrapped(output(request()), protocol="a2a"), ("malformed", "/protocol")),
        (wrapped(output(request()), stateManagement="both"), ("malformed", "/stateManagement")),
        (wrapped(output(request()), turnId=5), ("malformed", "/turnId")),
        (output(request(), reason="INTERRUPTED"), ("unknown_outcome", "/finishReason")),
        ({"finish_reason": "interrupted"}, ("unknown_outcome", "/finish_reason")),
        (snapshot(request(), status="Completed"), ("unknown_outcome", "/status")),
        (output(request(), sessionId=5), ("malformed", "/sessionId")),
        (wrapped(output(request(), sessionId=5)), ("malformed", "/output/sessionId")),
        (output(request(), sessionId=None), ("malformed", "/sessionId")),
        (wrapped(output(request(), snapshotId=""), stateManagement="server"),
         ("malformed", "/output/snapshotId")),
        (output(request(), snapshotId=None), ("malformed", "/state/messages")),
        (output(request(), snapshotId=None, state={}), ("malformed", "/state/messages")),
        (output({**request(), "metadata": 1}), ("malformed", "/message/content/0/metadata")),
        (output({"toolRequest": 1}), ("malformed", "/message/content/0/toolRequest")),
        (output({"toolRequest": {}}), ("malformed", "/message/content/0/toolRequest/name")),
        (output(7), ("malformed", "/message/content/0")),
        (output({"toolRequest": {"name": "pay", "ref": 5}}),
         ("malformed", "/message/content/0/toolRequest/ref")),
        ('{"finishReason":"stop","a":1,"finishReason":"interrupted"}', ("json_rules", "")),
        ('{"finishReason":"interrupted","finishReason":"stop"}', ("json_rules", "")),
        ('{"finishReason":"interrupted","x":NaN}', ("json_rules", "")),
    ],
)  # fmt: skip
def test_what_might_ask_and_cannot_be_read_is_refused(
    record: Any, refused: tuple[str, str]
) -> None:
    """With its reason and a pointer; silence never stands for "nothing was asked"."""
    assert reason_and_pointer(record) == refused


@pytest.mark.parametrize(("runtime", "refused"), [("go", True), ("py", True), ("js", False)])
def test_a_call_that_neither_waits_nor_is_settled(runtime: str, refused: bool) -> None:
    """JavaScript drops an undefined output; elsewhere no resume of such a turn is whole."""
    turn = output(request(), request("plain", "p1", None))
    found = reason_and_pointer(turn, genkit=configured(runtime=runtime))
    assert found == (("unsupported", "/message/content/1") if refused else None)


def test_bounds_have_a_reason() -> None:
    """Bytes, depth and number of questions."""
    turn = output(request(), request("ask"))
    for limits, reason in (
        (Limits(record_bytes=10), "too_large"),
        (Limits(json_depth=3), "too_deep"),
        (Limits(interrupts_per_run=1), "limit"),
    ):
        refusal = read(turn, limits=limits).refusal
        assert refusal is not None
        assert refusal.reason == reason


@pytest.mark.parametrize(
    ("record", "label"),
    [
        (output(reason="paused"), "unknown_finish_reason"),
        (wrapped(output(reason="stop"), runtime="dart"), "unknown_runtime"),
        ({"result": "hello"}, "unknown_shape"),
        ('{"a":"\\ud800"}', "odd_json"),
    ],
)
def test_what_is_forgiven_is_counted(record: Any, label: str) -> None:
    """Once per record."""
    assert Counted("lenient", label) in read(record).counts
