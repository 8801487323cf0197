"""The `Answer` record: JSON to the core's answer, or to what its verdict `malformed` needs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from bridge.core.model import Answer, AnswerStatus, Counted, JsonText, Limits
from bridge.core.record import Record
from bridge.records.instants import instant_or_problem
from bridge.records.reading import (
    ANSWER_ID_MAX,
    BadAnswer,
    Count,
    Unusable,
    agreed_approval_id,
    bad,
    check_texts,
    checked_id,
    convert,
    named,
    optional_text,
    read_object,
    thread_named,
    uncounted,
)

__all__ = ["BadAnswer", "WireAnswer", "read_answer"]

_ABSENT = msgspec.Raw()
# It comes back in key, header and value of the verdict, which must fit where the answer did.
_AnswerId = Annotated[str, msgspec.Meta(max_length=ANSWER_ID_MAX)]


class WireAnswer(msgspec.Struct):
    """Field for field schemas/answer.avsc."""

    status: Literal["resolved", "cancelled", "abandoned"]
    approval_id: str | None = None
    source: str | None = None
    scope: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    interrupt_id: str | None = None
    payload: msgspec.Raw = _ABSENT
    metadata: msgspec.Raw = _ABSENT
    answer_id: _AnswerId | None = None
    answered_by: str | None = None
    answered_at: msgspec.Raw = _ABSENT  # anything: it decides nothing, so it refuses nothing
    comment: str | None = None
    action: Literal["restart", "respond", ""] | None = None
    revised_input: msgspec.Raw = _ABSENT


_decoder = msgspec.json.Decoder(WireAnswer)


def read_answer(record: Record, limits: Limits, count: Count = uncounted) -> Answer | BadAnswer:
    """The answer that a record holds. Its approval id is always filled in.

    Absent and null payloads are both None, and a cancelled answer has none; `count` is told of a
    payload dropped that way, as (lenient, cancelled_payload).
    """
    read: dict[str, Any] = {}
    try:
        read = read_object(record, limits)
        wire = convert(_decoder, record.value or b"", read)
        check_texts(wire, limits)
        return _answer(record, wire, count)
    except Unusable as problem:
        return bad(record, problem.refusal, read)


def _answer(record: Record, wire: WireAnswer, count: Count) -> Answer:
    approval_id = checked_id(named(wire.approval_id))
    run_id, interrupt_id = named(wire.run_id), named(wire.interrupt_id)
    thread = thread_named(
        wire.source, wire.scope, wire.thread_id, run_id=run_id, interrupt_id=interrupt_id
    )
    if thread is not None:
        approval_id = agreed_approval_id(approval_id, thread, run_id or "", interrupt_id or "")
    if approval_id is None:
        raise Unusable("malformed", "needs approval_id or a full identity", "/approval_id")
    status: AnswerStatus = "resolved" if wire.status == "resolved" else "cancelled"
    answered_at, problem = instant_or_problem(wire.answered_at, "/answered_at")
    return Answer(
        origin=record.origin,
        status=status,
        approval_id=approval_id,
        thread=thread,
        run_id=run_id,
        interrupt_id=interrupt_id,
        payload=_payload(status, wire.payload, count),
        metadata=optional_text(wire.metadata),
        answer_id=named(wire.answer_id),
        answered_by=named(wire.answered_by),
        answered_at=answered_at,
        comment=named(wire.comment),
        action=wire.action or None,
        revised_input=optional_text(wire.revised_input),
        problems=() if problem is None else (problem,),
    )


def _payload(status: AnswerStatus, raw: msgspec.Raw, count: Count) -> JsonText | None:
    payload = optional_text(raw)
    if payload is not None and status == "cancelled":
        count(Counted("lenient", "cancelled_payload"))
        return None
    return payload
