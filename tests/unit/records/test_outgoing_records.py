"""The bridge's own records: what stands in them, under which key, with which headers."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bridge.core.coverage import entries_of
from bridge.core.ids import RunKey
from bridge.core.model import (
    AcceptedAnswer,
    ApprovalId,
    Digest,
    Item,
    Judged,
    Native,
    Origin,
    Question,
    Resume,
    Run,
    ThreadKey,
)
from bridge.records.headers import trace_context
from bridge.records.instants import rfc3339
from bridge.records.outgoing import Outgoing
from bridge.records.published import approval, command, forget_records, publish, verdict

ORIGIN = Origin("agents.run-finished", 3, 41, 1_700_000_000_000)
THREAD = ThreadKey("support-agents", "", "thread-1")
APPROVAL_ID = ApprovalId("faf6703e-aba3-8201-b3a3-5057f251dd62")
AWKWARD = b'{"z": 1e2, "a":50.0,\n "n":18446744073709551617, "s":"\\ud83d\\ude00 \xf0\x9f\x98\x80"}'


def run_of(*items: Item, **changes: Any) -> Run:
    run = Run(THREAD, "run-1", "ag-ui", Digest(b""), 0, 0, ORIGIN, 1_700_000_000_250, items)
    return replace(run, **changes)


def answered(interrupt_id: str, reason: Any = "answered", status: Any = "resolved") -> Item:
    answer = AcceptedAnswer(
        status, Digest(b""), f"a-{interrupt_id}", 5, "ana", b'{"ok":true}', b'{"m":1}'
    )
    return Item(Question(interrupt_id), "answered", 2, answer=answer, closed_reason=reason)


def resumed(*items: Item, body: bytes = b"{}") -> Resume:
    run = run_of(*items, outcome="resumed")
    return Resume(
        run=run,
        entries=entries_of(run),
        native=Native("run", body),
        completed_by="answers",
        issued_at=9,
        deliver_by=None,
    )


def value_of(outgoing: Outgoing) -> Any:
    assert outgoing.value is not None
    return json.loads(outgoing.value)


def test_a_fresh_approval() -> None:
    """Keyed by its id, everything that is known in it, what is absent left out."""
    outgoing = publish(approval(run_of(Item(Question("int-1", message="Refund?"))), 0))
    assert (outgoing.topic, outgoing.key) == ("approvals", APPROVAL_ID.encode())
    assert value_of(outgoing) == {
        "approval_id": APPROVAL_ID,
        "revision": 1,
        "status": "pending",
        "command_id": RunKey.of(THREAD, "run-1").command_id,
        "kind": "input",
        "protocol": "ag-ui",
        "source": "support-agents",
        "scope": "",
        "thread_id": "thread-1",
        "run_id": "run-1",
        "interrupt_id": "int-1",
        "index": 0,
        "total": 1,
        "flags": [],
        "published_at": "2023-11-14T22:13:20.250Z",
        "actions": [],
        "origin": {
            "topic": "agents.run-finished",
            "partition": 3,
            "offset": 41,
            "timestamp": "2023-11-14T22:13:20.000Z",
        },
        "message": "Refund?",
    }


def test_flags_of_question_and_item_are_shown_once() -> None:
    """A flag that the question came with is not repeated when the item carries it too."""
    item = Item(Question("int-1", flags=("a", "b")), flags=("b", "c"))
    assert value_of(publish(approval(run_of(item), 0)))["flags"] == ["a", "b", "c"]


def test_free_json_goes_out_as_it_came() -> None:
    """Number literals, key order, white space and escapes of free JSON are those of the source."""
    item = answered("int-1")
    assert item.answer is not None
    item = replace(
        item,
        question=replace(item.question, response_schema=AWKWARD, metadata=AWKWARD),
        answer=replace(item.answer, payload=AWKWARD, metadata=AWKWARD),
    )
    asked = publish(approval(run_of(item), 0)).value
    resume = publish(command(resumed(item, body=AWKWARD))).value
    assert asked is not None
    assert resume is not None
    assert asked.count(AWKWARD) == 2
    assert resume.count(AWKWARD) == 3


def test_cloud_events_headers() -> None:
    """Binary mode: the id names the record and its revision, the rest is constant."""
    headers = dict(publish(approval(run_of(Item(Question("int-1"), revision=7)), 0)).headers)
    assert headers == {
        "content-type": b"application/json",
        "ce_specversion": b"1.0",
        "ce_type": b"interrupt_bridge.v1.Approval",
        "ce_source": b"interrupt-bridge",
        "ce_id": f"{APPROVAL_ID}:7".encode(),
    }


def test_forgetting_a_run_removes_each_approval() -> None:
    """One tombstone per question, under the key of its approval."""
    run = run_of(Item(Question("int-1")), Item(Question("int-2")))
    tombstones = forget_records(run)
    assert [t.key for t in tombstones] == [publish(approval(run, i)).key for i in (0, 1)]
    assert {(t.topic, t.value) for t in tombstones} == {("approvals", None)}


def test_a_verdict_is_keyed_by_approval_else_by_answer() -> None:
    """A sender finds the verdict even where no question is known."""
    known = Judged("accepted", ORIGIN, "a-1", 9, approval_id=APPROVAL_ID, open=0)
    unknown = Judged("malformed", ORIGIN, str(ORIGIN), 9)
    assert publish(verdict(known)).key == APPROVAL_ID.encode()
    assert publish(verdict(unknown)).key == b"agents.run-finished/3/41"
    assert dict(publish(verdict(known)).headers)["ce_id"] == b"a-1@agents.run-finished/3/41"
    assert value_of(publish(verdict(known)))["open"] == 0


def test_a_command_has_its_entries_in_the_order_of_the_run() -> None:
    """Order is the run's, whatever the order of the answers; the key is the thread's."""
    outgoing = publish(command(resumed(answered("int-2"), answered("int-1"))))
    value = value_of(outgoing)
    assert outgoing.key == b"thread-1"
    assert [entry["interrupt_id"] for entry in value["entries"]] == ["int-2", "int-1"]
    assert value["resume_run_id"] == RunKey.of(THREAD, "run-1").resume_run_id
    assert value["native"] == {"method": "run", "headers": {}, "body": {}, "notes": []}


@pytest.mark.parametrize("reason", ["expired", "lapsed", "sibling_abandoned"])
def test_what_is_not_delivered_is_cancelled(reason: str) -> None:
    """An entry without a delivered answer says cancelled, carries nothing, and says why."""
    (entry,) = value_of(publish(command(resumed(answered("int-1", reason)))))["entries"]
    assert entry.keys() == {"interrupt_id", "approval_id", "status", "closed_reason"}
    assert (entry["status"], entry["closed_reason"]) == ("cancelled", reason)


def test_a_cancelled_answer_is_named_but_brings_no_payload() -> None:
    """Who declined is passed on; a payload is not."""
    item = answered("int-1", "cancelled", "cancelled")
    (entry,) = value_of(publish(command(resumed(item))))["entries"]
    assert (entry["status"], entry["answered_by"]) == ("cancelled", "ana")
    assert "payload" not in entry


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_instants_are_the_nearest_text_of_themselves(instant: int) -> None:
    """One form for every instant, and nothing lost."""
    text = rfc3339(instant)
    assert len(text) == 24
    assert round(datetime.fromisoformat(text).timestamp() * 1_000) == instant


def test_instants_beyond_dates_do_not_stop_a_slot() -> None:
    """A producer may stamp any 64-bit number."""
    assert rfc3339(-(2**63)) == "0001-01-01T00:00:00.000Z"
    assert rfc3339(2**63 - 1) == "9999-12-31T23:59:59.999Z"


PARENT = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize(
    "parent",
    [
        b"",
        b"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        b"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        b"00-00000000000000000000000000000000-b7ad6b7169203331-01",
        b"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        PARENT + b"-extra",
        PARENT + b"\n",
    ],
)
def test_a_broken_traceparent_ends_here(parent: bytes) -> None:
    """Nothing is passed on that a tracer would choke on, and no tracestate without a parent."""
    assert trace_context([("traceparent", parent), ("tracestate", b"a=1")]) == ()


def test_a_trace_is_passed_on() -> None:
    """Parent and state travel behind the record's own headers; the first of each counts."""
    headers = [("traceparent", PARENT), ("traceparent", b"x"), ("x", b"y"), ("tracestate", b"a=1")]
    trace = trace_context(headers)
    assert trace == (("traceparent", PARENT), ("tracestate", b"a=1"))
    assert publish(approval(run_of(Item(Question("int-1"))), 0), trace).headers[-2:] == trace
    assert trace_context([("traceparent", PARENT), ("tracestate", b"x" * 600)]) == trace[:1]
