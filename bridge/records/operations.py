"""The `Operation` record: what an operator wants done with one run, or asks of one slot."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from bridge.core.model import Limits, Operation, Probe
from bridge.core.record import Record
from bridge.records.reading import (
    BadAnswer,
    Unusable,
    bad,
    check_same_thread,
    check_texts,
    checked_id,
    convert,
    named,
    read_object,
    thread_named,
)


class WireOperation(msgspec.Struct):
    """Field for field schemas/operation.avsc."""

    op: Literal["withdraw", "expire", "probe"]
    approval_id: str | None = None
    source: str | None = None
    scope: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    slot: int | None = None
    reason: str | None = None
    by: str | None = None


_RUN: Final = ("approval_id", "source", "scope", "thread_id", "run_id")

_decoder = msgspec.json.Decoder(WireOperation)


def read_operation(record: Record, limits: Limits) -> Operation | Probe | BadAnswer:
    """The operation that a record holds, or what its one verdict needs."""
    read: dict[str, Any] = {}
    try:
        read = read_object(record, limits)
        wire = convert(_decoder, record.value or b"", read)
        check_texts(wire, limits)
        if wire.op == "probe":
            return Probe(record.origin, _probed_slot(wire))
        return _operation(record, wire, wire.op)
    except Unusable as problem:
        return bad(record, problem.refusal, read)


def _probed_slot(wire: WireOperation) -> int:
    named = [name for name in _RUN if getattr(wire, name)]
    if named:
        raise Unusable("malformed", "a probe names a slot and no run", f"/{named[0]}")
    if wire.slot is None or wire.slot < 0:
        raise Unusable("malformed", "a probe names a slot, 0 or more", "/slot")
    return wire.slot


def _operation(record: Record, wire: WireOperation, op: Literal["withdraw", "expire"]) -> Operation:
    if wire.slot is not None:
        raise Unusable("malformed", "only a probe names a slot", "/slot")
    approval_id, run_id = checked_id(named(wire.approval_id)), named(wire.run_id)
    thread = thread_named(wire.source, wire.scope, wire.thread_id, run_id=run_id)
    if thread is None and approval_id is None:
        raise Unusable("malformed", "needs approval_id or a full identity", "/approval_id")
    if thread is not None and approval_id is not None:
        check_same_thread(approval_id, thread)
    return Operation(
        origin=record.origin,
        op=op,
        approval_id=approval_id,
        thread=thread,
        run_id=run_id,
        reason=named(wire.reason),
        by=named(wire.by),
    )
