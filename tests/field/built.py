"""What is built here as the field writes it: frames, answers, keys, timestamps, dialects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from bridge.audit import ids
from tests.field import tasks
from tests.field.sent import NOTHING, Sent, asks, question, told
from tests.unit.protocols.test_framing import FRAMES

GOOD: Final = {"run_id": "run-1", "interrupt_id": "ask-1", "source": "field", "status": "resolved"}
PAYLOAD: Final = {"approved": True}


def rows(now: datetime) -> list[Sent]:
    """All of them; their instants are a minute before `now`."""
    at = now - timedelta(minutes=1)
    made = (framed, answered, erased, stamped, keyed, frameworks)
    return [*(one for part in made for one in part(at)), *tasks.rows(at)]


def turn(session: str, **members: Any) -> bytes:
    """A paused turn of Genkit."""
    call = {"name": "bookTruck", "ref": "c-1", "input": {"loads": 2}}
    part = {"toolRequest": call, "metadata": {"interrupt": {"why": "a yes is missing"}}}
    message = {"role": "model", "content": [part]}
    about = {"sessionId": session, "snapshotId": "snap-1", "finishReason": "interrupted"}
    return json.dumps({**about, "message": message, **members}).encode()


def framed(at: datetime) -> Iterator[Sent]:
    """Each frame around an event of each protocol; and what is no single event."""
    for named, frame in FRAMES.items():
        name = named.replace(" ", "-")
        yield Sent("ag-ui", frame(question(f"in-{name}")), asks(f"in-{name}"))
        task = json.dumps(tasks.status(f"task-in-{name}", at)).encode()
        yield Sent("a2a", frame(task), asks(f"task-in-{name}", f"m-task-in-{name}"))
        session = f"session-in-{name}"
        yield Sent("genkit", frame(turn(session)), told(f"asks input {session}/*"))
    event = FRAMES["cloudevent"](question("in-batch"))
    for refused in (
        b"[%b,%b]" % (event, event),
        b"\x00\x00\x00\x00\x11\x02\x0aavro",
        b"data: {}\n\ndata: {}\n\n",
        b": keep-alive\n\n",
    ):
        yield Sent("ag-ui", refused, told("letter framing"))


def answered(at: datetime) -> Iterator[Sent]:
    """Answers as serializers write them, in each frame too; each to a question of its own."""
    accepted, malformed = told("verdict accepted"), told("verdict malformed", "letter malformed")
    for number, (members, finds) in enumerate(
        [
            *((members, accepted) for members in taken(at)),
            *((members, malformed) for members in refused()),
        ]
    ):
        thread = f"answered-{number}"
        yield Sent("ag-ui", question(thread), asks(thread))
        value = json.dumps({"thread_id": thread, **members}).replace("THREAD", thread)
        yield Sent("answers", value.encode(), finds)
    for named, frame in FRAMES.items():
        thread = f"answered-in-{named.replace(' ', '-')}"
        yield Sent("ag-ui", question(thread), asks(thread))
        plain = json.dumps({**GOOD, "thread_id": thread, "payload": PAYLOAD}).encode()
        yield Sent("answers", frame(plain), accepted)
    yield Sent("ag-ui", question("answered-by-id"), asks("answered-by-id"))
    identity = ("field", "", "answered-by-id", "run-1", "ask-1")
    by_id = {
        "approval_id": ids.make_id("approval", *identity),
        "status": "resolved",
        "payload": PAYLOAD,
    }
    empty = dict.fromkeys(("source", "scope", "thread_id", "run_id", "interrupt_id"), "")
    yield Sent("answers", json.dumps({**empty, **by_id}).encode(), accepted)


def taken(at: datetime) -> Iterator[dict[str, Any]]:
    """What decides nothing refuses nothing: nulls, empty texts, instants in any form."""
    whole = {**GOOD, "payload": PAYLOAD}
    optional = ("approval_id", "scope", "answer_id", "answered_by", "comment", "action")
    yield {**whole, **dict.fromkeys(optional), "metadata": None, "revised_input": None}
    yield {**whole, **dict.fromkeys(optional, "")}
    yield {**whole, "payload": json.dumps(PAYLOAD)}  # no schema is asked for here
    millis = round(at.timestamp() * 1_000)
    local = at.replace(tzinfo=None)
    for written in (
        *(local.isoformat(), local.isoformat(" "), local.isoformat(timespec="minutes")),
        *(millis, millis // 1_000, millis / 1_000),
        *(f"{local.isoformat()}+00:00[Europe/London]", "yesterday"),
    ):
        yield {**whole, "answered_at": written}


def refused() -> Iterator[dict[str, Any]]:
    """What is spelled in another way is told the right spelling."""
    whole = {**GOOD, "payload": PAYLOAD}
    yield {**whole, "thread_id": None, "threadId": "THREAD"}
    yield {**whole, "status": "RESOLVED"}
    yield {**whole, "run_id": ""}
    yield {"approval_id": "FAF6703E-ABA3-8201-B3A3-5057F251DD62", "status": "resolved"}


def erased(_at: datetime) -> Iterator[Sent]:
    """Nulls under the keys of conversations, known and unknown."""
    yield Sent("ag-ui", question("erased"), asks("erased"), b"erased")
    yield from (Sent("ag-ui", None, NOTHING, key) for key in (b"erased", b"unknown"))


def stamped(at: datetime) -> Iterator[Sent]:
    """Timestamps that are none: zero, seconds, the last century; and as of arrival."""
    seconds = round(at.timestamp())
    for stamp in (0, seconds, 915_148_800_000):
        yield Sent("ag-ui", question("stamped"), told("letter no_timestamp"), None, stamp)
    yield Sent("untimed", question("stamped"), asks("stamped"), None, seconds)


def keyed(_at: datetime) -> Iterator[Sent]:
    """Keys as Connect writes them, on failures that name no thread."""
    error = b'{"type":"RUN_ERROR","message":"overloaded"}'
    for number, key in enumerate(('"{}"', '{{"schema":null,"payload":"{}"}}', "{}")):
        thread = f"keyed-{number}"
        yield Sent("ag-ui", question(thread), asks(thread))
        yield Sent("ag-ui", error, NOTHING, key.format(thread).encode())


FAILED: Final = ("two-ends", "keyed-0", "keyed-1", "keyed-2")
"""Threads whose question is flagged `run_failed` at the end."""


def frameworks(_at: datetime) -> Iterator[Sent]:
    """What agents' libraries write of themselves."""
    nulls = dict.fromkeys(("result", "usage", "timestamp", "rawEvent", "metadata"))
    open_ = dict.fromkeys(("message", "toolCallId", "responseSchema", "expiresAt", "metadata"))
    asking = {"type": "interrupt", "interrupts": [{"id": "ask-1", "reason": "tool_call", **open_}]}
    run = {"type": "RUN_FINISHED", "threadId": "nulls", "runId": "run-1"}
    yield Sent("ag-ui", json.dumps({**run, **nulls, "outcome": asking}).encode(), asks("nulls"))
    raw = {"type": "RAW", "event": {"type": "NEEDS_CONFIRMATION", "state": "pending"}}
    yield Sent("ag-ui", json.dumps(raw).encode(), NOTHING, b"silent")
    yield Sent("ag-ui", json.dumps({**run, "threadId": "silent"}).encode(), NOTHING, b"silent")
    yield Sent("ag-ui", question("two-ends"), asks("two-ends"), b"two-ends")
    plain = json.dumps({**run, "threadId": "two-ends"}).encode()
    for value in (plain, b'{"type":"RUN_ERROR","message":"stream closed"}', plain):
        yield Sent("ag-ui", value, NOTHING, b"two-ends")
    for agent in ("clerk", "driver"):
        one = {"id": f"ask-{agent}", "reason": "tool_call"}
        outcome = {"type": "interrupt", "interrupts": [one]}
        shared = {**run, "threadId": "shared", "runId": f"run-{agent}", "outcome": outcome}
        value = json.dumps({**shared, "metadata": {"agentId": agent}}).encode()
        yield Sent("agents", value, asks("shared", f"ask-{agent}"))
    done = turn("session-done", status="done")
    yield Sent("genkit", done, told("letter unknown_outcome"))
