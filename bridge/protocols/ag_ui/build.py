"""A closed AG-UI run to the `RunAgentInput` that continues it.

The body is put together from slices: payloads, metadata and carried context go out as they came.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from bridge.core.ids import key_of
from bridge.core.model import Entry, JsonText, Native, Run
from bridge.protocols.ag_ui.context import Context, read_context
from bridge.protocols.ag_ui.legacy import command_of
from bridge.protocols.ag_ui.resume_command import answers_by_order, resume_command
from bridge.protocols.slices import members_of, not_null, object_of


class _Entry(msgspec.Struct, omit_defaults=True):
    interruptId: str
    status: str
    payload: msgspec.Raw | None = None
    metadata: msgspec.Raw | dict[str, str] | None = None


class _RunAgentInput(msgspec.Struct):
    threadId: str
    runId: str
    protocolVersion: str
    state: msgspec.Raw
    messages: msgspec.Raw
    tools: msgspec.Raw
    context: msgspec.Raw
    forwardedProps: msgspec.Raw
    resume: list[_Entry] | msgspec.UnsetType = msgspec.UNSET


_NOTHING = Context()
_encode = msgspec.json.Encoder().encode


def build(run: Run, entries: Sequence[Entry], carry: JsonText | None) -> Native:
    """One entry per interrupt, in the run's order, under a new run id on the same thread.

    A run that asked in the older way is resumed in it, unless its agent takes entries all the same.
    0.x producers require all members of the context, so what nobody told goes out empty.
    """
    kept = _NOTHING if carry is None else read_context(carry)
    takes_entries = all(command_of(entry.question) is None for entry in entries)
    command = None if takes_entries else resume_command(entries)
    forwarded = bytes(kept.forwardedProps)
    members = members_of(forwarded)
    if command is not None or "command" in members or not forwarded:
        # A kept command answered the run before, and is not repeated.
        forwarded = object_of({**members, "command": command})
    body = _RunAgentInput(
        threadId=run.thread.thread_id,
        runId=key_of(run).resume_run_id,
        protocolVersion="1.0",
        state=_or_empty(kept.state, b"{}"),
        messages=_or_empty(kept.messages, bytes(kept.startMessages) or b"[]"),
        tools=_or_empty(kept.tools, b"[]"),
        context=_or_empty(kept.context, b"[]"),
        forwardedProps=msgspec.Raw(forwarded),
        resume=[_entry(entry) for entry in entries] if takes_entries else msgspec.UNSET,
    )
    return Native("run", _encode(body), notes=tuple(_notes(entries, kept, takes_entries)))


def _or_empty(member: msgspec.Raw, otherwise: JsonText) -> msgspec.Raw:
    return member if bytes(member) else msgspec.Raw(otherwise)


def _notes(entries: Sequence[Entry], kept: Context, takes_entries: bool) -> Iterator[str]:
    """What the body leaves out, and where its order counts."""
    if not bytes(kept.messages):
        yield "messages_at_start" if bytes(kept.startMessages) else "continuity_omitted"
    if kept.stateOmitted:
        yield "state_omitted"
    given = [entry.metadata for entry in entries if not_null(entry.metadata)]
    if any(not (takes_entries and _only_object(metadata)) for metadata in given):
        yield "metadata_omitted"
    if not takes_entries and answers_by_order(entries):
        yield "answers_by_order"


def _entry(entry: Entry) -> _Entry:
    """A cancelled entry has no payload; its metadata is what the answerer said, else the cause.

    AG-UI has no null payload or metadata: every reader takes one for absent.
    """
    payload, given = not_null(entry.payload), _only_object(entry.metadata)
    metadata: msgspec.Raw | dict[str, str] | None = None if given is None else msgspec.Raw(given)
    if entry.status == "cancelled" and metadata is None:
        metadata = {"reason": entry.closed_reason}
    return _Entry(
        interruptId=entry.question.interrupt_id,
        status=entry.status,
        payload=None if payload is None else msgspec.Raw(payload),
        metadata=metadata,
    )


def _only_object(metadata: JsonText | None) -> JsonText | None:
    """An entry's metadata is an object or absent; readers refuse the whole input otherwise."""
    return metadata if metadata is not None and metadata.lstrip().startswith(b"{") else None
