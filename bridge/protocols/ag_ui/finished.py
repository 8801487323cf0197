"""RUN_FINISHED: a run that asks becomes an input, one that does not is read past.

An outcome that might hide a question is refused; silence never stands for success.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from bridge.core import json_text
from bridge.core.model import Digest, Interrupted, Millis, Order, Question
from bridge.protocols.ag_ui.ends import ends
from bridge.protocols.ag_ui.event import NAME, Event
from bridge.protocols.ag_ui.interrupts import Interrupt, check_count, questions_of, read_leniently
from bridge.protocols.fields import MAX_SAFE_INTEGER, Fields, Unreadable
from bridge.protocols.interface import Reading

_Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_SAFE_INTEGER)]
_Instant = Annotated[int, msgspec.Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]


class _Usage(msgspec.Struct, forbid_unknown_fields=True):
    provider: str = ""
    model: str = ""
    inputTokens: _Count = 0
    outputTokens: _Count = 0
    totalTokens: _Count = 0
    reasoningTokens: _Count = 0
    cachedInputTokens: _Count = 0
    cacheWriteInputTokens: _Count = 0


class _Success(msgspec.Struct, tag_field="type", tag="success", forbid_unknown_fields=True):
    pendingToolCallIds: list[str] = []


class _Cancelled(msgspec.Struct, tag_field="type", tag="cancelled", forbid_unknown_fields=True):
    pass


class _Asks(msgspec.Struct, tag_field="type", tag="interrupt", forbid_unknown_fields=True):
    interrupts: list[Interrupt]


class _PlainEnd(msgspec.Struct, forbid_unknown_fields=True):
    """RUN_FINISHED exactly as the schema has it, which is what current producers write."""

    type: str
    threadId: str
    runId: str
    outcome: _Success | _Cancelled | _Asks | msgspec.UnsetType = msgspec.UNSET
    usage: list[_Usage] = []
    timestamp: _Instant = 0
    result: msgspec.Raw = msgspec.Raw()
    rawEvent: msgspec.Raw = msgspec.Raw()
    metadata: dict[str, msgspec.Raw] = {}


_PLAIN_END = msgspec.json.Decoder(_PlainEnd)


def run_finished(event: Event) -> Reading:
    try:
        end = _PLAIN_END.decode(event.value)
    except (msgspec.DecodeError, RecursionError):
        return _read_leniently(event)
    if isinstance(end.outcome, _Asks):
        # The short way for what needs no forgiveness; it reads what the long one would.
        interrupts = end.outcome.interrupts
        ids = {interrupt.id for interrupt in interrupts}
        if not ids or len(ids) != len(interrupts) or not all(i.is_plain() for i in interrupts):
            return _read_leniently(event)
        check_count(len(interrupts), "/outcome/interrupts", event.limits)
        digest = json_text.digest(event.strictly()["outcome"]["interrupts"])
        questions, at = questions_of(interrupts), event.at(end.timestamp)
        return _interrupted(event, end.threadId, end.runId, questions, digest, at)
    # A run that asks nothing and spells the word may have it under a key that stands there twice;
    # a backslash could spell it in escapes.
    if b"interrupt" in event.value or b"\\" in event.value:
        return _read_leniently(event)
    if isinstance(end.outcome, _Success) and end.outcome.pendingToolCallIds:
        event.seen.add("pending_tool_calls")
    told, at = end.outcome is not msgspec.UNSET, event.at(end.timestamp)
    return event.reading(*ends(event, end.threadId, end.runId, at, told=told))


def _read_leniently(event: Event) -> Reading:
    fields = event.fields()
    thread_id, run_id = fields.required_text("threadId"), fields.required_text("runId")
    _check_envelope(fields, event.seen)
    pointer, value = fields.find("outcome")
    at = event.at(fields.find("timestamp")[1])
    if value is None:
        _count_outside_outcome(fields, event.seen)
        return event.reading(*ends(event, thread_id, run_id, at, told=False))
    outcome = Fields(value, pointer, event.seen)
    kind = value.get("type")
    if kind == "interrupt":
        questions, digest = read_leniently(event.value, outcome, event.limits, event.seen)
        return _interrupted(event, thread_id, run_id, questions, digest, at)
    if kind not in ("success", "cancelled"):
        raise Unreadable("unknown_outcome", f"{pointer}/type", "not an outcome of AG-UI 1.0")
    pointer, interrupts = outcome.find("interrupts")
    if interrupts:
        raise Unreadable("interrupts_on_success", pointer, "only an interrupt outcome may ask")
    if outcome.texts("pendingToolCallIds"):
        event.seen.add("pending_tool_calls")
    _count_outside_outcome(fields, event.seen)
    return event.reading(*ends(event, thread_id, run_id, at, told=True))


def _check_envelope(fields: Fields, seen: set[str]) -> None:
    """What the Python SDK would refuse in fields that the bridge itself does not use."""
    fields.check_integer("timestamp")
    fields.object("metadata")
    pointer, usages = fields.array("usage")
    for index, value in enumerate(usages):
        usage = Fields(value, f"{pointer}/{index}", seen)
        for name in _Usage.__struct_fields__:
            if name in {"provider", "model"}:
                usage.text(name)
            else:
                usage.check_integer(name, minimum=0)


def _count_outside_outcome(fields: Fields, seen: set[str]) -> None:
    """Shapes of drafts that no release reads as an interrupt."""
    if fields.find("interrupts")[1] or fields.find("interrupt")[1]:
        seen.add("toplevel_interrupts")


def _interrupted(
    event: Event,
    thread_id: str,
    run_id: str,
    questions: tuple[Question, ...],
    digest: Digest,
    at: Millis,
) -> Reading:
    thread, origin = event.thread(thread_id), event.record.origin
    asked = Interrupted(
        thread=thread,
        run_id=run_id,
        protocol=NAME,
        questions=questions,
        digest=digest,
        order=Order(at),
        origin=origin,
    )
    return event.reading(asked, *ends(event, thread_id, run_id, at, told=True, asks=True))
