"""Answers and operations: read strictly, and refused with nothing of their content."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.core.model import (
    Answer,
    ApprovalId,
    Counted,
    Limits,
    Operation,
    Origin,
    Probe,
    ThreadKey,
)
from bridge.core.record import Record
from bridge.records.answers import BadAnswer, read_answer
from bridge.records.operations import read_operation

ORIGIN = Origin("answers", 0, 9, 1_700_000_000_000)
APPROVAL_ID = ApprovalId("faf6703e-aba3-8201-b3a3-5057f251dd62")
IDENTITY = {
    "source": "support-agents",
    "thread_id": "thread-1",
    "run_id": "run-1",
    "interrupt_id": "int-1",
}
LIMITS = Limits(record_bytes=10_000)


def record(value: bytes | None) -> Record:
    return Record(value, None, (), ORIGIN)


def answer(**members: Any) -> Answer:
    read = read_answer(record(json.dumps({"status": "resolved"} | members).encode()), LIMITS)
    assert isinstance(read, Answer)
    return read


def refused(value: bytes | None) -> BadAnswer:
    read = read_answer(record(value), LIMITS)
    assert isinstance(read, BadAnswer)
    return read


def refused_members(**members: Any) -> BadAnswer:
    return refused(
        json.dumps({"status": "resolved", "approval_id": APPROVAL_ID} | members).encode()
    )


def test_an_answer_by_approval_id() -> None:
    """The id alone names the question; nothing else is made up."""
    read = answer(approval_id=APPROVAL_ID, answer_id="a-1", answered_by="ana", comment="fine")
    assert (read.approval_id, read.thread, read.run_id) == (APPROVAL_ID, None, None)
    assert (read.answer_id, read.answered_by, read.comment) == ("a-1", "ana", "fine")
    assert (read.origin, read.payload) == (ORIGIN, None)


def test_a_full_identity_gives_the_approval_id() -> None:
    """So that it can be parked under the same id as an answer that names only that."""
    read = answer(**IDENTITY)
    assert read.approval_id == APPROVAL_ID
    assert read.thread == ThreadKey("support-agents", "", "thread-1")
    assert answer(**IDENTITY, approval_id=APPROVAL_ID).approval_id == APPROVAL_ID


@pytest.mark.parametrize("missing", IDENTITY)
def test_nothing_less_than_a_full_identity(missing: str) -> None:
    """Interrupt ids recur on a thread: half an identity is refused, even beside an approval id."""
    half = {name: value for name, value in IDENTITY.items() if name != missing}
    bad = refused_members(**half)
    assert (bad.refusal.reason, bad.refusal.pointer) == ("malformed", f"/{missing}")


def test_both_names_must_agree() -> None:
    """An approval id of another question is a contradiction, not a choice."""
    bad = refused_members(**IDENTITY | {"interrupt_id": "int-2"})
    assert (bad.refusal.reason, bad.refusal.pointer) == ("malformed", "/approval_id")


def test_no_name_at_all() -> None:
    """An answer to nothing is malformed."""
    assert refused(b'{"status":"cancelled"}').refusal.pointer == "/approval_id"
    assert refused(b'{"status":"cancelled","scope":"s"}').refusal.pointer == "/source"


def test_abandoned_is_cancelled() -> None:
    """The prose word is accepted; the wire has one."""
    assert answer(approval_id=APPROVAL_ID, status="abandoned").status == "cancelled"


def test_the_payload_of_a_cancelled_answer_is_dropped_and_counted() -> None:
    """Nobody asked for it, so it goes nowhere; an operator sees that it happens."""
    counts: list[Counted] = []
    for payload in (b"1", b"null"):
        value = b'{"status":"cancelled","approval_id":"%b","payload":%b}'
        read = read_answer(record(value % (APPROVAL_ID.encode(), payload)), LIMITS, counts.append)
        assert isinstance(read, Answer)
        assert read.payload is None
    assert counts == [Counted("lenient", "cancelled_payload")]


@pytest.mark.parametrize(
    "text", ["1e2", "50.0", "18446744073709551617", '{"z":1, "a":[ 2]}', '"x"']
)
def test_payloads_are_slices(text: str) -> None:
    """Number literals, key order and white space are the sender's."""
    value = f'{{"status":"resolved","approval_id":"{APPROVAL_ID}","payload": {text} }}'.encode()
    read = read_answer(record(value), LIMITS)
    assert isinstance(read, Answer)
    assert read.payload == text.encode()


def test_null_is_absent() -> None:
    """A null payload, metadata or revised input is the same as none."""
    read = answer(approval_id=APPROVAL_ID, payload=None, metadata=None, revised_input=None)
    assert (read.payload, read.metadata, read.revised_input) == (None, None, None)


def test_the_senders_clock_is_kept() -> None:
    """An offset is read; digits beyond milliseconds are cut off."""
    assert (
        answer(approval_id=APPROVAL_ID, answered_at="1970-01-01T01:00:00.0019+01:00").answered_at
        == 1
    )


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "empty"),
        (b"  ", "empty"),
        (b"{", "not_json"),
        (b"\xff", "not_json"),
        (b'{"status":NaN}', "json_rules"),
        (b'{"status":"resolved","status":"resolved"}', "json_rules"),
        (b'{"status":"\\ud800"}', "json_rules"),
        (b'{"payload":' + b"[" * 1000 + b"]" * 1000 + b"}", "too_deep"),
        (b"[]", "malformed"),
        (b'"resolved"', "malformed"),
        (b'{"payload":"' + b"x" * 10_000 + b'"}', "too_large"),
    ],
)
def test_what_is_no_answer(value: bytes | None, reason: str) -> None:
    """Each has its reason, and a verdict that names the record itself."""
    bad = refused(value)
    judged = bad.judged(77)
    assert bad.refusal.reason == reason
    assert judged.verdict == ("too_large" if reason == "too_large" else "malformed")
    assert (judged.answer_id, judged.decided_at, judged.origin) == ("answers/0/9", 77, ORIGIN)


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"status": "s3cret"}, "/status"),
        ({"approval_id": 7}, "/approval_id"),
        ({"approval_id": "s3cret"}, "/approval_id"),
        ({"approval_id": APPROVAL_ID.upper()}, "/approval_id"),
        ({"action": "s3cret"}, "/action"),
        ({"answered_by": ["s3cret"]}, "/answered_by"),
        ({"colour": "s3cret"}, "/colour"),
        ({"a/b~c": "s3cret"}, "/a~1b~0c"),
    ],
)
def test_a_wrong_member_is_named_and_not_quoted(members: dict[str, Any], pointer: str) -> None:
    """The sender learns where; nobody reads what."""
    bad = refused_members(**members)
    assert (bad.refusal.reason, bad.refusal.pointer) == ("malformed", pointer)
    assert bad.refusal.detail
    assert "s3cret" not in bad.refusal.detail


def test_a_missing_status_is_named() -> None:
    """Required means required."""
    assert refused(b"{}").refusal.pointer == "/status"


def test_readable_ids_reach_the_verdict() -> None:
    """A sender finds the verdict by its own answer id, and under the approval's key."""
    judged = refused_members(answer_id="a-1", colour=1).judged(1)
    assert (judged.answer_id, judged.approval_id) == ("a-1", APPROVAL_ID)
    assert [problem.path for problem in judged.problems] == ["/colour"]
    assert refused_members(answer_id=5).judged(1).answer_id == "answers/0/9"


def test_an_answer_id_has_a_bound() -> None:
    """The verdict repeats it three times and must fit where the answer did."""
    assert answer(approval_id=APPROVAL_ID, answer_id="x" * 256).answer_id == "x" * 256
    bad = refused_members(answer_id="x" * 257)
    assert (bad.refusal.pointer, bad.answer_id) == ("/answer_id", None)
    assert "256" in bad.refusal.detail


@given(
    st.binary(max_size=60)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(["status", "approval_id", "payload", "x", *IDENTITY]), inner
            )
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_bytes_stop_the_reader(value: bytes) -> None:
    """Whatever the bytes, they are an answer or a refusal; nothing is raised."""
    assert isinstance(read_answer(record(value), LIMITS), Answer | BadAnswer)
    assert isinstance(read_operation(record(value), LIMITS), Operation | Probe | BadAnswer)


def operation(**members: Any) -> Operation | Probe | BadAnswer:
    return read_operation(record(json.dumps(members).encode()), LIMITS)


def test_operations_name_a_run() -> None:
    """By any of its approvals or by its identity."""
    by_id = operation(op="withdraw", approval_id=APPROVAL_ID, reason="stop", by="ops")
    by_run = operation(op="expire", source="s", scope="x", thread_id="t", run_id="r")
    assert by_id == Operation(ORIGIN, "withdraw", APPROVAL_ID, reason="stop", by="ops")
    assert by_run == Operation(ORIGIN, "expire", thread=ThreadKey("s", "x", "t"), run_id="r")


def test_a_probe_names_a_slot() -> None:
    """And nothing else; who asks is for people, and empty texts are none."""
    assert operation(op="probe", slot=3, by="ops", approval_id="") == Probe(ORIGIN, 3)


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"op": "delete", "approval_id": APPROVAL_ID}, "/op"),
        ({"op": "withdraw"}, "/approval_id"),
        ({"op": "withdraw", "approval_id": APPROVAL_ID, "slot": 3}, "/slot"),
        ({"op": "probe"}, "/slot"),
        ({"op": "probe", "slot": -1}, "/slot"),
        ({"op": "probe", "slot": "3"}, "/slot"),
        ({"op": "probe", "slot": True}, "/slot"),
        ({"op": "probe", "slot": 3, "approval_id": APPROVAL_ID}, "/approval_id"),
        ({"op": "probe", "slot": 3, "thread_id": "t"}, "/thread_id"),
        ({"op": "withdraw", "source": "s", "run_id": "r"}, "/thread_id"),
        ({"op": "withdraw", "approval_id": APPROVAL_ID, "interrupt_id": "i"}, "/interrupt_id"),
        (
            {
                "op": "withdraw",
                "approval_id": APPROVAL_ID,
                "source": "support-agents",
                "thread_id": "thread-2",
                "run_id": "run-1",
            },
            "/approval_id",
        ),
    ],
)
def test_bad_operations(members: dict[str, Any], pointer: str) -> None:
    """The same strictness, and a contradiction of thread ids is seen without state."""
    bad = operation(**members)
    assert isinstance(bad, BadAnswer)
    assert (bad.refusal.reason, bad.refusal.pointer) == ("malformed", pointer)
