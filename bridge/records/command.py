"""The `ResumeCommand` record: the one order to continue a run, with all its answers.

The entries stand in the order of the run's interrupts, and the native body is ready to send.
"""

from __future__ import annotations

import msgspec

from bridge.core.ids import key_of
from bridge.core.model import Entry, Native, Resume
from bridge.core.record import Header
from bridge.records.headers import header_builder
from bridge.records.instants import optional_rfc3339, rfc3339
from bridge.records.outgoing import Outgoing
from bridge.records.wire import Raw, WireOrigin, optional_raw, wire_origin

_headers = header_builder("ResumeCommand")
_encode = msgspec.json.Encoder().encode


class WireEntry(msgspec.Struct, omit_defaults=True):
    """How one interrupt of the run ended; `cancelled` is also what expired and lapsed ones say."""

    interrupt_id: str
    approval_id: str
    status: str
    closed_reason: str
    payload: Raw | None = None
    metadata: Raw | None = None
    answered_by: str | None = None
    answered_at: str | None = None


class WireNative(msgspec.Struct, omit_defaults=True):
    """What an executor sends. `headers` and `notes` are there even when they are empty."""

    method: str
    headers: dict[str, str]
    body: Raw
    notes: tuple[str, ...]
    endpoint: str | None = None


class WireCommand(msgspec.Struct, omit_defaults=True):
    """Field for field schemas/resume_command.avsc."""

    command_id: str
    protocol: str
    source: str
    scope: str
    thread_id: str
    run_id: str
    resume_run_id: str
    entries: tuple[WireEntry, ...]
    completed_by: str
    native: WireNative
    issued_at: str
    origin: WireOrigin
    deliver_by: str | None = None


def command_record(resume: Resume, trace: tuple[Header, ...] = ()) -> Outgoing:
    """The command, keyed by thread like the events it follows."""
    command = _command(resume)
    return Outgoing(
        topic="resume-commands",
        key=command.thread_id.encode(),
        value=_encode(command),
        headers=_headers(command.command_id) + trace,
    )


def _command(resume: Resume) -> WireCommand:
    run, thread, key = resume.run, resume.run.thread, key_of(resume.run)
    return WireCommand(
        command_id=key.command_id,
        protocol=run.protocol,
        source=thread.source,
        scope=thread.scope,
        thread_id=thread.thread_id,
        run_id=run.run_id,
        resume_run_id=key.resume_run_id,
        entries=tuple([_entry(entry) for entry in resume.entries]),
        completed_by=resume.completed_by,
        native=_native(resume.native),
        issued_at=rfc3339(resume.issued_at),
        origin=wire_origin(run.origin),
        deliver_by=optional_rfc3339(resume.deliver_by),
    )


def _entry(entry: Entry) -> WireEntry:
    return WireEntry(
        interrupt_id=entry.question.interrupt_id,
        approval_id=entry.approval_id,
        status=entry.status,
        closed_reason=entry.closed_reason,
        payload=optional_raw(entry.payload),
        metadata=optional_raw(entry.metadata),
        answered_by=entry.answered_by,
        answered_at=optional_rfc3339(entry.answered_at),
    )


def _native(native: Native) -> WireNative:
    return WireNative(
        method=native.method,
        headers=dict(native.headers),
        body=Raw(native.body),
        notes=native.notes,
        endpoint=native.endpoint,
    )
