"""The `RunAgentInput` that continues an interrupted run."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from bridge.core.coverage import entries_of
from bridge.core.ids import RunKey
from bridge.core.model import (
    AcceptedAnswer,
    AnswerStatus,
    Digest,
    Item,
    Native,
    Question,
    Run,
    ThreadKey,
)
from tests import vectors
from tests.unit.protocols.agui_events import (
    AG_UI,
    ORIGIN,
    interrupted,
    only_interrupted,
    read,
)

THREAD = ThreadKey("support", "", "t-1")


def answered(
    interrupt_id: str,
    payload: bytes | None = None,
    status: AnswerStatus = "resolved",
    metadata: bytes | None = None,
) -> Item:
    answer = AcceptedAnswer(status, Digest(b""), "answer-1", 2, payload=payload, metadata=metadata)
    closed: Literal["answered", "cancelled"] = "answered" if status == "resolved" else "cancelled"
    return Item(Question(interrupt_id), closed, answer=answer, closed_at=2, closed_reason=closed)


def expired(interrupt_id: str) -> Item:
    return Item(Question(interrupt_id), "expired", closed_at=9, closed_reason="expired")


def lapsed(interrupt_id: str) -> Item:
    item = answered(interrupt_id, b"true")
    return replace(item, status="expired", flags=("lapsed",), closed_reason="lapsed")


def run_of(*items: Item) -> Run:
    return Run(
        THREAD, "r-1", "ag-ui", Digest(b""), 1, 0, ORIGIN, 1, items, outcome="resumed", closed_at=9
    )


def built(run: Run, carry: bytes | None = None) -> Native:
    return AG_UI.build(run, entries_of(run), carry)


def body_of(*items: Item, carry: bytes | None = None) -> Any:
    return json.loads(built(run_of(*items), carry).body)


def test_the_body_continues_the_thread_under_a_new_run_id() -> None:
    """The same run always gives the same resume run id; the list has the run's order."""
    native = built(run_of(answered("b", b"true"), answered("a", b"1")), None)
    assert (native.method, native.endpoint, native.notes) == ("run", None, ("continuity_omitted",))
    assert json.loads(native.body) == {
        "threadId": "t-1",
        "runId": RunKey.of(ThreadKey("support", "", "t-1"), "r-1").resume_run_id,
        "protocolVersion": "1.0",
        "state": {},
        "messages": [],
        "tools": [],
        "context": [],
        "forwardedProps": {},
        "resume": [
            {"interruptId": "b", "status": "resolved", "payload": True},
            {"interruptId": "a", "status": "resolved", "payload": 1},
        ],
    }


@pytest.mark.parametrize(
    "payload",
    [
        '{"z":18446744073709551617,"a":50.0,"e":1e2}',
        '"😀"',
        '"\\ud83d\\ude00"',
        "false",
        "0",
        '""',
        "[null]",
    ],
)
def test_a_payload_goes_out_as_it_came(payload: str) -> None:
    """Number literals, key order and code points; false, 0 and "" are answers."""
    native = built(run_of(answered("a", payload.encode())), None)
    assert b'"payload":' + payload.encode() in native.body


@pytest.mark.parametrize("payload", [None, b"null", b" null\n"])
def test_a_null_payload_is_no_payload(payload: bytes | None) -> None:
    """The 1.0 schema forbids a whole null; released clients drop it."""
    assert body_of(answered("a", payload))["resume"] == [{"interruptId": "a", "status": "resolved"}]


@pytest.mark.parametrize(
    ("item", "metadata"),
    [
        (expired("a"), {"reason": "expired"}),
        (lapsed("a"), {"reason": "lapsed"}),
        (answered("a", b'{"no":1}', "cancelled"), {"reason": "cancelled"}),
        (answered("a", None, "cancelled", b'{"by":"desk"}'), {"by": "desk"}),
        (answered("a", None, "cancelled", b"[1]"), {"reason": "cancelled"}),
    ],
)
def test_an_abandoned_entry_says_why_and_carries_no_payload(
    item: Item, metadata: dict[str, str]
) -> None:
    """The wire knows no "abandoned": status cancelled, the cause in metadata."""
    entry = {"interruptId": "a", "status": "cancelled", "metadata": metadata}
    assert body_of(item)["resume"] == [entry]


@pytest.mark.parametrize(
    ("metadata", "sent", "notes"),
    [
        (b'{"m":1e2}', b'"metadata":{"m":1e2}', ()),
        (b"null", None, ()),
        (b"[1]", None, ("metadata_omitted",)),
        (b'"desk"', None, ("metadata_omitted",)),
    ],
)
def test_metadata_of_an_answer_travels_with_it(
    metadata: bytes, sent: bytes | None, notes: tuple[str, ...]
) -> None:
    """Verbatim where it is the object that the protocol asks for; a note says where it is not."""
    carry = b'{"messages":[]}'
    native = built(run_of(answered("a", b"1", metadata=metadata)), carry)
    assert native.notes == notes
    assert (sent in native.body) if sent else (b"metadata" not in native.body)


def test_carried_context_fills_the_body() -> None:
    """What the thread kept goes out as its slices; what it did not keep stays empty."""
    native = built(
        run_of(answered("a")), b'{"messages":[{"id":"m","n":1e2}],"state":{"x":50.0},"other":1}'
    )
    assert native.notes == ()
    assert b'"state":{"x":50.0},"messages":[{"id":"m","n":1e2}],"tools":[],' in native.body
    assert b"other" not in native.body


def test_ids_are_written_as_json_text() -> None:
    """Quotes, control characters and astral characters in ids survive."""
    odd = 'q"\\\n😀\u2028'
    run = replace(run_of(answered(odd)), thread=ThreadKey("support", "", odd))
    body = json.loads(built(run, None).body)
    assert (body["threadId"], body["resume"][0]["interruptId"]) == (odd, odd)


def resumes() -> list[tuple[str, list[dict[str, Any]], Any]]:
    """(name, what is pending, the entries given), where anything is pending."""
    found = [(c["name"], c["pending"], c.get("resume")) for c in vectors.made("ag_ui", "resumes")]
    more = vectors.collected_json("agui/oracle_resume.json")
    found += [(c["name"], c["pendingInterrupts"], c["resume"]) for c in more]
    return [case for case in found if case[1]]


@pytest.mark.parametrize(
    ("pending", "given"), [case[1:] for case in resumes()], ids=[case[0] for case in resumes()]
)
def test_exactly_one_entry_for_each_interrupt(pending: list[dict[str, Any]], given: Any) -> None:
    """Whatever list a client is given, ours covers each question once, no extras."""
    asked = {item["id"]: item for item in pending}
    questions = only_interrupted(read(interrupted(*asked.values()))).questions
    entries = {e.get("interruptId"): e for e in given or () if isinstance(e, dict)}
    sent = body_of(*(_settled(q, entries.get(q.interrupt_id)) for q in questions))["resume"]
    assert [entry["interruptId"] for entry in sent] == list(asked)
    assert {entry["status"] for entry in sent} <= {"resolved", "cancelled"}


def test_the_reference_client_refuses_what_the_bridge_never_sends() -> None:
    """Lists that leave a question out, other words for a status, answers after the deadline."""
    verdicts = vectors.verdicts("ag_ui", "ag-ui-client")["resumes"]
    refused = {name for name, found in verdicts.items() if found["verdict"] == "rejected"}
    assert refused == {
        *("pending, nothing given", "an empty list", "one of two"),
        *("an id that differs in its case", "names in snake_case"),
        *("status abandoned", "status canceled", "status in capitals", "no status"),
        "expired and resolved",
    }


def _settled(question: Question, entry: dict[str, Any] | None) -> Item:
    """The recorded entry as an accepted answer; an interrupt nobody answered has expired."""
    if entry is None or entry.get("status") not in {"resolved", "cancelled"}:
        return replace(expired(question.interrupt_id), question=question)
    payload = json.dumps(entry["payload"]).encode() if "payload" in entry else None
    item = answered(question.interrupt_id, payload, entry["status"])
    return replace(item, question=question)
