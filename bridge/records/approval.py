"""The `Approval` record: one question of a run, upserted through its life, removed at its end.

Written to a compacted topic under the approval id; the highest revision is the truth.
"""

from __future__ import annotations

import msgspec

from bridge.core.ids import key_of
from bridge.core.model import ApprovalId, CommandId, Run
from bridge.core.record import Header
from bridge.records.headers import header_builder
from bridge.records.instants import optional_rfc3339, rfc3339
from bridge.records.outgoing import Outgoing
from bridge.records.wire import Raw, WireOrigin, optional_raw, wire_origin

_headers = header_builder("Approval")
_encode = msgspec.json.Encoder().encode


class WireApproval(msgspec.Struct, omit_defaults=True):
    """Field for field schemas/approval.avsc; what has a default is left out when absent."""

    approval_id: str
    revision: int
    status: str
    command_id: str
    kind: str
    protocol: str
    source: str
    scope: str
    thread_id: str
    run_id: str
    interrupt_id: str
    index: int
    total: int
    flags: tuple[str, ...]
    published_at: str
    actions: tuple[str, ...]
    origin: WireOrigin
    run_outcome: str | None = None
    reason: str | None = None
    message: str | None = None
    tool_call_id: str | None = None
    subagent_run_id: str | None = None
    response_schema: Raw | None = None
    metadata: Raw | None = None
    expires_at: str | None = None
    expires_at_raw: str | None = None
    authorize_at: str | None = None
    answer_id: str | None = None
    answered_by: str | None = None
    answered_at: str | None = None
    closed_at: str | None = None
    closed_reason: str | None = None


def approval_record(run: Run, index: int, trace: tuple[Header, ...] = ()) -> Outgoing:
    """The upsert of `run.items[index]` as it stands now; `trace` goes on behind its headers."""
    item, key = run.items[index], key_of(run)
    approval_id = key.approval_id(item.question.interrupt_id)
    return Outgoing(
        topic="approvals",
        key=approval_id.encode(),
        value=_encode(_approval(run, index, approval_id, key.command_id)),
        headers=_headers(f"{approval_id}:{item.revision}") + trace,
    )


def forget_records(run: Run) -> tuple[Outgoing, ...]:
    """One tombstone for each approval of a run that is no longer remembered."""
    ids = map(key_of(run).approval_id, (item.question.interrupt_id for item in run.items))
    return tuple(Outgoing("approvals", approval_id.encode(), None) for approval_id in ids)


def _approval(run: Run, index: int, approval_id: ApprovalId, command_id: CommandId) -> WireApproval:
    item, thread = run.items[index], run.thread
    question, answer = item.question, item.answer
    return WireApproval(
        approval_id=approval_id,
        revision=item.revision,
        status=item.status,
        command_id=command_id,
        kind=question.kind,
        protocol=run.protocol,
        source=thread.source,
        scope=thread.scope,
        thread_id=thread.thread_id,
        run_id=run.run_id,
        interrupt_id=question.interrupt_id,
        index=index,
        total=len(run.items),
        flags=_flags(question.flags, item.flags),
        published_at=rfc3339(run.published_at),
        actions=question.actions,
        origin=wire_origin(run.origin),
        run_outcome=run.outcome,
        reason=question.reason,
        message=question.message,
        tool_call_id=question.tool_call_id,
        subagent_run_id=question.subagent_run_id,
        response_schema=optional_raw(question.response_schema),
        metadata=optional_raw(question.metadata),
        expires_at=optional_rfc3339(item.expires_at),
        expires_at_raw=question.expires_at_raw,
        authorize_at=question.authorize_at,
        answer_id=answer.answer_id if answer else None,
        answered_by=answer.answered_by if answer else None,
        answered_at=rfc3339(answer.answered_at) if answer else None,
        closed_at=optional_rfc3339(item.closed_at),
        closed_reason=item.closed_reason,
    )


def _flags(asked: tuple[str, ...], grown: tuple[str, ...]) -> tuple[str, ...]:
    """Flags the question came with, then those it got since; each once."""
    if not asked:
        return grown
    return asked + tuple(flag for flag in grown if flag not in asked)
