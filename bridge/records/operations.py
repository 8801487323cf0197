"""The `Operation` record: what an operator wants done with one run."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from bridge.core.model import Limits, Operation
from bridge.core.record import Record
from bridge.records.reading import (
    BadAnswer,
    Unusable,
    bad,
    check_id,
    check_same_thread,
    check_texts,
    convert,
    named,
    read_object,
    thread_named,
)


class WireOperation(msgspec.Struct):
    """Field for field schemas/operation.avsc."""

    op: Literal["withdraw", "expire"]
    approval_id: str | None = None
    source: str | None = None
    scope: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    reason: str | None = None
    by: str | None = None


_decoder = msgspec.json.Decoder(WireOperation)


def read_operation(record: Record, limits: Limits) -> Operation | BadAnswer:
    """The operation that a record holds, or what its one verdict needs."""
    read: dict[str, Any] = {}
    try:
        read = read_object(record, limits)
        wire = convert(_decoder, record.value or b"", read)
        check_texts(wire, limits)
        return _operation(record, wire)
    except Unusable as problem:
        return bad(record, problem.refusal, read)


def _operation(record: Record, wire: WireOperation) -> Operation:
    approval_id, run_id = named(wire.approval_id), named(wire.run_id)
    check_id(approval_id)
    thread = thread_named(wire.source, wire.scope, wire.thread_id, run_id=run_id)
    if thread is None and approval_id is None:
        raise Unusable("malformed", "needs approval_id or a full identity", "/approval_id")
    if thread is not None and approval_id is not None:
        check_same_thread(approval_id, thread)
    return Operation(
        origin=record.origin,
        op=wire.op,
        approval_id=approval_id,
        thread=thread,
        run_id=run_id,
        reason=named(wire.reason),
        by=named(wire.by),
    )
