"""State values: nothing is lost, the format cannot change unnoticed, unknown formats stop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.core.ids import RunKey
from bridge.core.model import (
    AcceptedAnswer,
    Answer,
    ApprovalId,
    Carried,
    Digest,
    Item,
    Origin,
    Parked,
    Question,
    Run,
    RunPolicy,
    ThreadKey,
)
from bridge.errors import StateFormatNewer
from bridge.slot import birth
from bridge.slot import state_codec as codec
from bridge.slot import state_schemas as schemas
from bridge.slot.birth import Birth
from bridge.slot.single_object import SingleObject
from tests.model_strategies import INT64, json_texts, parked, runs, texts

THREAD = ThreadKey("support-agents", "", "thread-1")
ORIGIN = Origin("agents.run-finished", 2, 41, 1_700_000_000_000)
OPEN = Run(
    thread=THREAD,
    run_id="run-1",
    protocol="ag-ui",
    digest=Digest(bytes(range(16))),
    at=ORIGIN.timestamp,
    generation=0,
    origin=ORIGIN,
    published_at=1_700_000_000_250,
    items=(
        Item(Question("int-1", message="Refund?", response_schema=b'{"type":"boolean"}')),
        Item(Question("int-2")),
    ),
)
ACCEPTED = AcceptedAnswer(
    status="resolved",
    digest=Digest(bytes(16)),
    answer_id="answer-1",
    answered_at=1_700_000_001_000,
    payload=b"true",
)
CLOSED = Run(
    thread=THREAD,
    run_id="run-1",
    protocol="ag-ui",
    digest=Digest(bytes(16)),
    at=5,
    generation=1,
    origin=ORIGIN,
    published_at=6,
    items=(Item(Question("int-1"), "answered", 2, 9, ("lapsed",), ACCEPTED, 8, "answered"),),
    policy=RunPolicy(("ana",), True, 7),
    native=b"{}",
    outcome="resumed",
    closed_at=8,
    confirmed=True,
)
CONTEXT = (Carried("run-1", b'{"messages":[]}', 1_700_000_700_000),)
EARLY = (
    Parked(ApprovalId("approval-1"), Answer(ORIGIN, "cancelled", answer_id="a", thread=THREAD), 77),
)


@settings(deadline=None)
@given(runs(INT64), st.none() | st.integers(0, 2**62))
def test_a_run_comes_back_as_it_was(run: Run, timer: int | None) -> None:
    """Every field of every run survives: memory is nothing but what the log says."""
    assert codec.decode_run(codec.encode_run(run, timer)) == run


@settings(deadline=None)
@given(parked(INT64))
def test_early_answers_come_back_in_order(early: tuple[Parked, ...]) -> None:
    """All answers parked under one approval id survive, in the order they came."""
    value = codec.encode_parked(early)
    assert codec.decode_parked(value) == early
    assert codec.peek_parked(value) == (min(each.until for each in early), len(early))


@given(st.lists(st.builds(Carried, texts, json_texts, INT64), min_size=1, max_size=3))
def test_carried_contexts_come_back(contexts: list[Carried]) -> None:
    """Byte for byte, in order; what a restore needs of them is read without decoding them."""
    value = codec.encode_carry(tuple(contexts))
    assert codec.decode_carry(value) == tuple(contexts)
    assert codec.carry_until(value) == min(context.until for context in contexts)


def test_a_large_context_is_packed() -> None:
    """Messages repeat themselves: of theirs less than half is left, and all of it comes back."""
    body = json.dumps({"messages": [{"id": f"m-{n}", "role": "user"} for n in range(500)]}).encode()
    value = codec.encode_carry((Carried("run-1", body, 1),))
    assert len(value) < len(body) / 2
    assert codec.decode_carry(value) == (Carried("run-1", body, 1),)


@given(st.integers(0, 2**63 - 1), st.dictionaries(texts, st.integers(0, 9)))
def test_positions_and_meta_come_back(number: int, seen: dict[str, int]) -> None:
    """Offsets, slots and partition counts survive."""
    assert codec.decode_position(codec.encode_position(number)) == number
    meta = codec.Meta(partitions_seen=seen)
    assert codec.decode_meta(codec.encode_meta(meta)) == meta


@settings(deadline=None)
@given(runs(INT64), st.none() | st.integers(0, 2**62))
def test_a_restore_files_a_run_undecoded(run: Run, timer: int | None) -> None:
    """What stands in front of a run says the same as the run itself."""
    value = codec.encode_run(run, timer)
    peek = codec.peek_run(value)
    assert peek[0] == (codec.NO_TIMER if timer is None else timer)
    assert peek[2] == codec.open_interrupts(run)
    assert codec.peek_source(value).decode() == run.thread.source
    approvals = [_approval(run, item) for item in run.items]
    assert codec.peek_approvals(value) == b"".join(approvals)


@settings(deadline=None)
@given(runs(INT64))
def test_a_run_key_tells_thread_and_command(run: Run) -> None:
    """A tombstone has nothing but its key."""
    named = (codec.thread_digest(run.thread), codec.command_bytes(run))
    key = codec.run_key(run)
    assert (codec.thread_of_key(key), codec.command_of_key(key)) == named


def test_many_approval_ids_are_found() -> None:
    """Their length takes one, two or three bytes; the ids behind it are found in each case."""
    for number in (1, 4, 511, 600):
        run = _with_items(number)
        assert len(codec.peek_approvals(codec.encode_run(run, None))) == 16 * number


def test_a_closed_run_waits_for_nothing() -> None:
    """Pending items of a run that is closed are not counted as open."""
    assert codec.open_interrupts(OPEN) == 2
    assert codec.open_interrupts(CLOSED) == 0


def test_threads_are_told_apart() -> None:
    """Where the parts of a thread's key are cut matters to its digest."""
    digests = {
        codec.thread_digest(ThreadKey(*parts))
        for parts in (("ab", "", "c"), ("a", "b", "c"), ("a", "", "bc"), ("", "ab", "c"))
    }
    assert len(digests) == 4


def test_position_keys_name_topic_and_partition() -> None:
    """A position is found by the partition that it is for."""
    key = codec.position_key("agents.run-finished", 11)
    assert key == b"position/agents.run-finished/11"
    assert codec.read_position_key(key) == ("agents.run-finished", 11)


BIRTH = Birth("d-1", "interrupt-bridge", 8, "bridge.reroute", "c-1")
VALUES = {
    "birth": birth.encode(BIRTH),
    "open": codec.encode_run(OPEN, 1_700_000_600_000),
    "closed": codec.encode_run(CLOSED, None),
    "parked": codec.encode_parked(EARLY),
    "carry": codec.encode_carry(CONTEXT),
    "position": codec.encode_position(1_234_567),
    "meta": codec.encode_meta(codec.Meta(format=1, partitions_seen={"answers": 6})),
}
GOLDEN = json.loads((Path(__file__).parent / "state_format_1.json").read_text())


@pytest.mark.parametrize("name", VALUES)
def test_golden_bytes(name: str) -> None:
    """These bytes stand on topics: a change of any of them is a new STATE_FORMAT."""
    assert VALUES[name].hex() == GOLDEN[name]


def test_golden_bytes_are_still_read() -> None:
    """What was written in this format is read as what it was."""
    golden = {name: bytes.fromhex(text) for name, text in GOLDEN.items()}
    assert birth.decode(golden["birth"]) == BIRTH
    assert codec.decode_run(golden["open"]) == OPEN
    assert codec.decode_run(golden["closed"]) == CLOSED
    assert codec.decode_parked(golden["parked"]) == EARLY
    assert codec.decode_carry(golden["carry"]) == CONTEXT
    assert codec.decode_carry(golden["packed"]) == (Carried("run-1", b"m" * 1_000, 7),)


@pytest.mark.parametrize(
    "decode",
    [
        codec.decode_run,
        codec.decode_parked,
        codec.decode_carry,
        codec.carry_until,
        codec.decode_position,
        codec.decode_meta,
        birth.decode,
        codec.peek_run,
        codec.peek_parked,
    ],
)
@pytest.mark.parametrize("value", [b"", b"\xc3\x01newer---" + bytes(80), b"\x00" * 90])
def test_an_unknown_format_stops(decode: Any, value: bytes) -> None:
    """A value of a later release is never guessed at; the error shows no content."""
    with pytest.raises(StateFormatNewer) as caught:
        decode(value)
    assert "later release" in str(caught.value)


def test_kinds_are_not_mixed_up() -> None:
    """A value of one kind is not read as another."""
    with pytest.raises(StateFormatNewer):
        codec.decode_run(codec.encode_position(1))


def test_the_format_before_is_read() -> None:
    """An older schema is data: with its way to the present one, its values are read."""
    old = fastavro.parse_schema(
        {"type": "record", "name": "P", "fields": [{"name": "at", "type": "long"}]}
    )
    new = SingleObject("position", schemas.POSITION, ((old, lambda f: {"offset": f["at"]}),))
    assert new.read(SingleObject("position", old).write({"at": 7})) == {"offset": 7}


def test_a_typical_run_is_small() -> None:
    """One interrupt, a message of 120 bytes, a schema of 200: what frames them stays small."""
    question = Question("int-1", message="m" * 120, response_schema=b"s" * 200)
    run = Run(
        ThreadKey("support-agents", "", "thread-000001"),
        "run-000001",
        "ag-ui",
        Digest(bytes(16)),
        ORIGIN.timestamp,
        0,
        ORIGIN,
        ORIGIN.timestamp + 9,
        (Item(question),),
    )
    assert len(codec.encode_run(run, None)) - 320 <= 256


def _approval(run: Run, item: Item) -> bytes:
    text = RunKey.of(run.thread, run.run_id).approval_id(item.question.interrupt_id)
    return UUID(text).bytes


def _with_items(number: int) -> Run:
    items = tuple(Item(Question(f"int-{index}")) for index in range(number))
    return Run(THREAD, "run-1", "ag-ui", Digest(b""), 0, 0, ORIGIN, 0, items)
