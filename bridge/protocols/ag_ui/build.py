"""A closed AG-UI run to the `RunAgentInput` that continues it.

The body is put together from slices: payloads, metadata and carried context go out as they came.
"""

from __future__ import annotations

import msgspec

from bridge.core.coverage import entry_answered, entry_status
from bridge.core.model import Item, JsonText, Native, Run
from bridge.core.runs import resume_run_id


class _Carried(msgspec.Struct):
    """The context of the thread, as the agent left it. 0.x producers require all five members."""

    messages: msgspec.Raw = msgspec.Raw(b"[]")
    state: msgspec.Raw = msgspec.Raw(b"{}")
    tools: msgspec.Raw = msgspec.Raw(b"[]")
    context: msgspec.Raw = msgspec.Raw(b"[]")
    forwardedProps: msgspec.Raw = msgspec.Raw(b"{}")


_CARRIED = msgspec.json.Decoder(_Carried)


def build(run: Run, carry: JsonText | None) -> Native:
    """One entry per interrupt, in the run's order, under a new run id on the same thread."""
    carried = _Carried() if carry is None else _CARRIED.decode(carry)
    body = _object(
        threadId=_text(run.thread.thread_id),
        runId=_text(resume_run_id(run)),
        protocolVersion=_text("1.0"),
        state=bytes(carried.state),
        messages=bytes(carried.messages),
        tools=bytes(carried.tools),
        context=bytes(carried.context),
        forwardedProps=bytes(carried.forwardedProps),
        resume=b"[" + b",".join(_entry(item) for item in run.items) + b"]",
    )
    return Native("run", body, notes=_notes(run, carry))


def _notes(run: Run, carry: JsonText | None) -> tuple[str, ...]:
    """What the body leaves out."""
    notes = ["continuity_omitted"] if carry is None else []
    given = [item.answer.metadata for item in run.items if item.answer and entry_answered(item)]
    if any(_not_null(metadata) and not _only_object(metadata) for metadata in given):
        notes.append("metadata_omitted")
    return tuple(notes)


def _entry(item: Item) -> JsonText:
    """A cancelled entry has no payload; its metadata is what the answerer said, else the cause."""
    answer = item.answer if entry_answered(item) else None
    status = entry_status(item)
    metadata = _only_object(answer.metadata) if answer else None
    if status == "cancelled" and metadata is None:
        metadata = _object(reason=_text(item.closed_reason or item.status))
    return _object(
        interruptId=_text(item.question.interrupt_id),
        status=_text(status),
        payload=_not_null(answer.payload) if answer and status == "resolved" else None,
        metadata=metadata,
    )


def _not_null(value: JsonText | None) -> JsonText | None:
    """AG-UI has no null payload or metadata: every reader takes one for absent."""
    return None if value is None or value.strip() == b"null" else value


def _only_object(metadata: JsonText | None) -> JsonText | None:
    """An entry's metadata is an object or absent; readers refuse the whole input otherwise."""
    return metadata if metadata is not None and metadata.lstrip().startswith(b"{") else None


def _text(value: str) -> JsonText:
    return msgspec.json.encode(value)


def _object(**members: JsonText | None) -> JsonText:
    pairs = (
        b'"%s":%s' % (name.encode(), text) for name, text in members.items() if text is not None
    )
    return b"{" + b",".join(pairs) + b"}"
