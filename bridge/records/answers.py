"""Answers as the core takes them: from a record, or what its verdict `malformed` needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from bridge.core import model as core
from bridge.core.model import Counted, Limits
from bridge.core.record import Record
from bridge.records.answer import Answer
from bridge.records.coding import encoding_of
from bridge.records.instants import instant_or_problem
from bridge.records.reading import (
    ANSWER_ID_MAX,
    BadAnswer,
    Count,
    Unusable,
    agreed_approval_id,
    bad,
    check_texts,
    check_word,
    checked_id,
    named,
    optional_text,
    thread_named,
    uncounted,
)

__all__ = ["BadAnswer", "read_answer"]


def read_answer(
    record: Record, limits: Limits, count: Count = uncounted
) -> core.Answer | BadAnswer:
    """The answer that a record holds. Its approval id is always filled in.

    Absent and null payloads are both None, and a cancelled answer has none; `count` gets a payload
    dropped that way, as (lenient, cancelled_payload).
    """
    sent = None
    try:
        encoding = encoding_of(record.headers)
        sent = encoding.read_strictly(Answer, record.value or b"", limits)
        check_word(sent.status, Answer.words["status"], "/status")
        if sent.action:
            check_word(sent.action, Answer.words["action"], "/action")
        if len(sent.answer_id or "") > ANSWER_ID_MAX:
            detail = f"Expected `str` of length <= {ANSWER_ID_MAX}"
            raise Unusable("malformed", detail, "/answer_id")
        check_texts(sent, limits)
        return _answer(record, sent, count)
    except Unusable as problem:
        return bad(record, problem, sent)


def _answer(record: Record, sent: Answer, count: Count) -> core.Answer:
    approval_id = checked_id(named(sent.approval_id))
    run_id, interrupt_id = named(sent.run_id), named(sent.interrupt_id)
    thread = thread_named(
        sent.source, sent.scope, sent.thread_id, run_id=run_id, interrupt_id=interrupt_id
    )
    if thread is not None:
        approval_id = agreed_approval_id(approval_id, thread, run_id or "", interrupt_id or "")
    if approval_id is None:
        raise Unusable("malformed", "needs approval_id or a full identity", "/approval_id")
    resolved, payload = sent.status == "resolved", optional_text(sent.payload)
    if payload is not None and not resolved:
        count(Counted("lenient", "cancelled_payload"))
    answered_at, problem = instant_or_problem(sent.answered_at)
    return core.Answer(
        origin=record.origin,
        status="resolved" if resolved else "cancelled",
        approval_id=approval_id,
        thread=thread,
        run_id=run_id,
        interrupt_id=interrupt_id,
        payload=payload if resolved else None,
        metadata=optional_text(sent.metadata),
        answer_id=named(sent.answer_id),
        answered_by=named(sent.answered_by),
        answered_at=answered_at,
        comment=named(sent.comment),
        action=_ACTIONS.get(sent.action or ""),
        revised_input=optional_text(sent.revised_input),
        problems=() if problem is None else (problem,),
    )


_ACTIONS: Mapping[str, Literal["restart", "respond"]] = {"restart": "restart", "respond": "respond"}
