"""A closed AG-UI run to the `RunAgentInput` that continues it.

The body is put together from slices: payloads, metadata and carried context go out as they came.
"""

from __future__ import annotations

import msgspec

from bridge.core.ids import make_id
from bridge.core.model import Item, JsonText, Native, Run


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
    thread = run.thread
    resume_run = make_id("resume-run", thread.source, thread.scope, thread.thread_id, run.run_id)
    body = _object(
        threadId=_text(thread.thread_id),
        runId=_text(resume_run),
        protocolVersion=_text("1.0"),
        state=bytes(carried.state),
        messages=bytes(carried.messages),
        tools=bytes(carried.tools),
        context=bytes(carried.context),
        forwardedProps=bytes(carried.forwardedProps),
        resume=b"[" + b",".join(_entry(item) for item in run.items) + b"]",
    )
    return Native("run", body, notes=("continuity_omitted",) if carry is None else ())


def _entry(item: Item) -> JsonText:
    """A cancelled entry has no payload; its metadata is what the answerer said, else the cause."""
    answer = item.answer if item.closed_reason in ("answered", "cancelled") else None
    resolved = item.closed_reason == "answered"
    metadata = _only_object(answer.metadata) if answer else None
    if not resolved and metadata is None:
        metadata = _object(reason=_text(item.closed_reason or item.status))
    return _object(
        interruptId=_text(item.question.interrupt_id),
        status=_text("resolved" if resolved else "cancelled"),
        payload=_not_null(answer.payload) if answer and resolved else None,
        metadata=metadata,
    )


def _not_null(payload: JsonText | None) -> JsonText | None:
    """AG-UI has no null payload: every reader takes it for an absent one."""
    return None if payload is None or payload.strip() == b"null" else payload


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
