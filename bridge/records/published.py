"""What a decision publishes: the core's values as records on their way out."""

from __future__ import annotations

import msgspec

from bridge.core import model as core
from bridge.core.ids import key_of
from bridge.core.record import Header
from bridge.records.approval import Approval
from bridge.records.command import Entry, Native, ResumeCommand
from bridge.records.encoding import Encoding, Published
from bridge.records.instants import instant, optional_instant
from bridge.records.json_encoding import JSON
from bridge.records.outgoing import Outgoing
from bridge.records.shape import Origin, free_json
from bridge.records.verdict import AnswerVerdict, Problem


def publish(
    record: Published, trace: tuple[Header, ...] = (), encoding: Encoding = JSON
) -> Outgoing:
    """A record on its way out; `trace` goes on behind its headers."""
    value, headers = encoding.write(record), encoding.headers(record, trace)
    return Outgoing(record.topic, record.key, value, headers)


def forget_records(run: core.Run) -> tuple[Outgoing, ...]:
    """One tombstone for each approval of a run that is no longer remembered."""
    ids = map(key_of(run).approval_id, (item.question.interrupt_id for item in run.items))
    return tuple(Outgoing("approvals", approval_id.encode(), None) for approval_id in ids)


def approval(run: core.Run, index: int) -> Approval:
    """`run.items[index]` as it stands now."""
    item, thread, key = run.items[index], run.thread, key_of(run)
    question, answer = item.question, item.answer
    return Approval(
        approval_id=key.approval_id(question.interrupt_id),
        revision=item.revision,
        status=item.status,
        command_id=key.command_id,
        kind=question.kind,
        protocol=run.protocol,
        source=thread.source,
        scope=thread.scope,
        thread_id=thread.thread_id,
        run_id=run.run_id,
        interrupt_id=question.interrupt_id,
        index=index,
        total=len(run.items),
        # Flags the question came with, then those it got since; each once.
        flags=tuple(dict.fromkeys(question.flags + item.flags)),
        published_at=instant(run.published_at),
        actions=question.actions,
        origin=_origin(run.origin),
        run_outcome=run.outcome,
        reason=question.reason,
        message=question.message,
        tool_call_id=question.tool_call_id,
        subagent_run_id=question.subagent_run_id,
        response_schema=free_json(question.response_schema),
        metadata=free_json(question.metadata),
        expires_at=optional_instant(item.expires_at),
        expires_at_raw=question.expires_at_raw,
        authorize_at=question.authorize_at,
        answer_id=answer.answer_id if answer else None,
        answered_by=answer.answered_by if answer else None,
        answered_at=instant(answer.answered_at) if answer else None,
        closed_at=optional_instant(item.closed_at),
        closed_reason=item.closed_reason,
    )


def verdict(judged: core.Judged) -> AnswerVerdict:
    """What became of one answer or operation."""
    thread = judged.thread
    return AnswerVerdict(
        answer_id=judged.answer_id,
        verdict=judged.verdict,
        problems=tuple([Problem(path=p.path, message=p.message) for p in judged.problems]),
        decided_at=instant(judged.decided_at),
        origin=_origin(judged.origin),
        approval_id=judged.approval_id,
        source=thread.source if thread else None,
        scope=thread.scope if thread else None,
        thread_id=thread.thread_id if thread else None,
        run_id=judged.run_id,
        interrupt_id=judged.interrupt_id,
        open=judged.open,
    )


def command(resume: core.Resume) -> ResumeCommand:
    """The one order to continue a run."""
    run, thread, key = resume.run, resume.run.thread, key_of(resume.run)
    native = resume.native
    return ResumeCommand(
        command_id=key.command_id,
        protocol=run.protocol,
        source=thread.source,
        scope=thread.scope,
        thread_id=thread.thread_id,
        run_id=run.run_id,
        resume_run_id=key.resume_run_id,
        entries=tuple([entry(each) for each in resume.entries]),
        completed_by=resume.completed_by,
        native=Native(
            method=native.method,
            headers=dict(native.headers),
            body=msgspec.Raw(native.body),
            notes=native.notes,
            endpoint=native.endpoint,
        ),
        issued_at=instant(resume.issued_at),
        origin=_origin(run.origin),
        deliver_by=optional_instant(resume.deliver_by),
    )


def entry(ended: core.Entry) -> Entry:
    """How one question of a run ended."""
    return Entry(
        interrupt_id=ended.question.interrupt_id,
        approval_id=ended.approval_id,
        status=ended.status,
        closed_reason=ended.closed_reason,
        payload=free_json(ended.payload),
        metadata=free_json(ended.metadata),
        answered_by=ended.answered_by,
        answered_at=optional_instant(ended.answered_at),
    )


def _origin(origin: core.Origin) -> Origin:
    return Origin(
        topic=origin.topic,
        partition=origin.partition,
        offset=origin.offset,
        timestamp=instant(origin.timestamp),
    )
