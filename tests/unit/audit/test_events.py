"""What the auditor cannot read it says so of, and judges nothing by it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.audit.events import read_event
from bridge.audit.log import LogRecord, Source
from bridge.audit.readings import Asked, Bad, Free, Unread

ASKS = {
    "type": "RUN_FINISHED",
    "threadId": "t",
    "runId": "r",
    "outcome": {"type": "interrupt", "interrupts": [{"id": "i", "reason": "x"}]},
}


def read(value: Any, source: Source) -> Any:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    (reading,) = read_event(LogRecord("input", "e", 0, 0, 0, None, text), source, 64, 1_000_000)
    return reading


@pytest.mark.parametrize(
    "wrapped",
    [
        ASKS,
        {"specversion": "1.0", "id": "1", "source": "/", "type": "t", "data": ASKS},
        {"schema": None, "payload": json.dumps(ASKS)},
        json.dumps(ASKS),
        b"data: " + json.dumps(ASKS).encode() + b"\n\n",
    ],
)
def test_a_question_is_read_in_whatever_it_is_wrapped(wrapped: Any) -> None:
    """Approvals of such records have an event that asked for them."""
    reading = read(wrapped, Source("agents"))
    assert isinstance(reading, Asked)
    assert (reading.thread, reading.run, reading.questions[0].id) == ("t", "r", "i")


def test_an_envelope_is_one_where_the_source_has_continuity() -> None:
    """Beside the input of its run; elsewhere it is an unknown event."""
    envelope = {"event": ASKS, "input": {"messages": []}}
    assert isinstance(read(envelope, Source("agents", enveloped=True)), Asked)
    assert isinstance(read(envelope, Source("agents")), Free)
    assert isinstance(read({"event": 5}, Source("agents", enveloped=True)), Bad)
    assert isinstance(read(ASKS, Source("agents", enveloped=True)), Asked)


def test_a_pointer_leads_to_the_event() -> None:
    """As the source's settings say."""
    assert isinstance(read({"after": {"event": ASKS}}, Source("a", pointer="/after/event")), Asked)


def test_what_is_not_read_here_is_neither_good_nor_bad() -> None:
    """A protocol of a later release, a frame that says two things."""
    assert isinstance(read(ASKS, Source("agents", protocol="acp-9")), Unread)
    twice = b'{"specversion":"1","id":"1","source":"s","type":"t","type":"u","data":{}}'
    assert isinstance(read(twice, Source("agents")), Unread)
