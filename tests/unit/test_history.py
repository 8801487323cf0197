"""The history of a thread: what belongs to it, and what is said of each record."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from bridge.cli.history import History
from bridge.core.model import Digest, Item, Limits, Origin, Question, Run, ThreadKey
from bridge.core.record import Header, Record
from bridge.protocols import PROTOCOLS
from bridge.records import encode, published

THREAD = "t-1"
ORIGIN = Origin("topic", 0, 0, 0)


def record(value: Any, key: bytes | None = None, headers: tuple[Header, ...] = ()) -> Record:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Record(text, key, headers, ORIGIN)


def event(history: History, value: Any, key: bytes | None = None) -> str | None:
    happened = history.event(record(value, key), "s", PROTOCOLS["ag-ui"], Limits())
    return None if happened is None else happened.summary


def approval(source: str) -> Record:
    """An approval of the thread as that source knows it."""
    question = Item(Question("i"))
    run = Run(
        ThreadKey(source, "", THREAD), "r", "ag-ui", Digest(b""), 0, 0, ORIGIN, 0, (question,)
    )
    made = replace(published.approval(run, 0), approval_id="a")
    said = encode(made)
    return Record(said.value, said.key, said.headers, ORIGIN)


def test_a_refused_event_belongs_to_the_thread_it_names() -> None:
    """Success carrying interrupts is refused, and is the very thing one looks for."""
    refused = {
        "type": "RUN_FINISHED",
        "threadId": THREAD,
        "runId": "r",
        "outcome": {"type": "interrupt", "interrupts": []},
    }
    assert event(History(THREAD), refused) == "refused: no_interrupts"
    assert event(History("t-2"), refused) is None


def test_an_event_that_is_not_json_belongs_to_its_key() -> None:
    assert event(History(THREAD), b"{", THREAD.encode()) == "refused: not_json"
    assert event(History(THREAD), b"{", b"t-2") is None


def test_events_that_are_read_past_are_told_by_type() -> None:
    started = {"type": "TEXT_MESSAGE_START", "messageId": "m", "threadId": THREAD}
    assert event(History(THREAD), started) == "TEXT_MESSAGE_START"


def test_a_run_starts_where_nothing_was_asked_and_goes_on_after_that() -> None:
    """The first start of a thread continues nothing."""
    history = History(THREAD)
    started = {"type": "RUN_STARTED", "threadId": THREAD, "runId": "r-1"}
    interrupt = {"type": "interrupt", "interrupts": [{"id": "i", "reason": "input_required"}]}
    finished = started | {"type": "RUN_FINISHED", "outcome": interrupt}
    assert event(history, started) == "run r-1 starts"
    assert event(history, finished) == "run r-1 asks i"
    assert event(history, started | {"runId": "r-2"}) == "the thread goes on by run r-2"


def test_a_thread_id_of_another_source_is_another_thread() -> None:
    history = History(THREAD, "s")
    assert history.own(approval("other"), "approvals") is None
    assert history.own(record({"approval_id": "a", "status": "resolved"}), "answers") is None
    assert history.own(approval("s"), "approvals") is not None
    assert history.own(record({"approval_id": "a", "status": "resolved"}), "answers") is not None


def test_a_record_that_cannot_be_read_is_told_by_what_it_names() -> None:
    """A wrong answer is the very thing one looks for; its summary quotes nothing of it."""
    wrong = {"thread_id": THREAD, "status": "resolved", "answered_by": ["s3cret"]}
    happened = History(THREAD).own(record(wrong), "answers")
    assert happened is not None
    assert happened.summary == "no Answer: Expected `str | null` at /answered_by"
    assert History("t-2").own(record(wrong), "answers") is None


def test_a_dead_letter_says_why_and_whence_by_the_bridges_own_headers() -> None:
    """The last header of a name is ours: a sender may write the same names before it."""
    headers = (
        ("bridge-reason", b"forged"),
        ("bridge-origin-topic", b"events"),
        ("bridge-origin-partition", b"1"),
        ("bridge-origin-offset", b"7"),
        ("bridge-origin-timestamp", b"9"),
        ("bridge-reason", b"malformed"),
        ("bridge-detail", b"/outcome"),
        ("bridge-source", b"s"),
    )
    letter = record(b"{", THREAD.encode(), headers)
    happened = History(THREAD, "s").own(letter, "dead-letters")
    assert happened is not None
    assert happened.summary == "malformed at /outcome, from events/1/7"
    assert History(THREAD, "other").own(letter, "dead-letters") is None


@pytest.mark.parametrize("value", [b"", b"null", b"[1]", b"\xff", b"[" * 100_000])
def test_no_value_stops_a_history(value: bytes) -> None:
    assert History(THREAD).own(record(value), "approvals") is None
    assert event(History(THREAD), value) is None


def test_a_question_that_is_told_on_the_way_is_part_of_the_story() -> None:
    history = History(THREAD)
    told = {"type": "CUSTOM", "name": "on_interrupt", "value": "Deploy?"}
    said = "a question without an id is told, to be asked"
    assert event(history, told, THREAD.encode()) == said
    named = event(history, told | {"rawEvent": {"id": "i-1"}}, THREAD.encode())
    assert named == "i-1 is told, to be asked"
    finished = {"type": "RUN_FINISHED", "threadId": THREAD, "runId": "r-1"}
    assert event(history, finished, THREAD.encode()) == "RUN_FINISHED"
