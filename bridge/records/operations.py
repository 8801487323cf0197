"""Operations as the core takes them: from a record, or what its one verdict needs."""

from __future__ import annotations

from typing import Final

from bridge.core import model as core
from bridge.core.model import Limits, Probe
from bridge.core.record import Record
from bridge.records.coding import encoding_of
from bridge.records.operation import Operation
from bridge.records.reading import (
    BadAnswer,
    Unusable,
    bad,
    check_same_thread,
    check_texts,
    check_word,
    checked_id,
    named,
    thread_named,
)

_RUN: Final = ("approval_id", "source", "scope", "thread_id", "run_id")


def read_operation(record: Record, limits: Limits) -> core.Operation | Probe | BadAnswer:
    """The operation that a record holds, or what its one verdict needs."""
    sent = None
    try:
        encoding = encoding_of(record.headers)
        sent = encoding.read_strictly(Operation, record.value or b"", limits)
        check_word(sent.op, Operation.words["op"], "/op")
        check_texts(sent, limits)
        return _probe(record, sent) if sent.op == "probe" else _operation(record, sent)
    except Unusable as problem:
        return bad(record, problem, sent)


def _probe(record: Record, sent: Operation) -> Probe:
    of_runs = [name for name in _RUN if getattr(sent, name)]
    if of_runs:
        raise Unusable("malformed", "a probe names a slot and no run", f"/{of_runs[0]}")
    if sent.slot is None or sent.slot < 0:
        raise Unusable("malformed", "a probe names a slot, 0 or more", "/slot")
    return Probe(record.origin, sent.slot)


def _operation(record: Record, sent: Operation) -> core.Operation:
    if sent.slot is not None:
        raise Unusable("malformed", "only a probe names a slot", "/slot")
    approval_id, run_id = checked_id(named(sent.approval_id)), named(sent.run_id)
    thread = thread_named(sent.source, sent.scope, sent.thread_id, run_id=run_id)
    if thread is None and approval_id is None:
        raise Unusable("malformed", "needs approval_id or a full identity", "/approval_id")
    if thread is not None and approval_id is not None:
        check_same_thread(approval_id, thread)
    return core.Operation(
        origin=record.origin,
        op="withdraw" if sent.op == "withdraw" else "expire",
        approval_id=approval_id,
        thread=thread,
        run_id=run_id,
        reason=named(sent.reason),
        by=named(sent.by),
    )
