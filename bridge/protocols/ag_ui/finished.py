"""RUN_FINISHED: a run that asks becomes an input, one that does not is read past.

An outcome that might hide a question is refused; silence never stands for success.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from bridge.core.model import Interrupted
from bridge.protocols.ag_ui.event import NAME, Event
from bridge.protocols.ag_ui.interrupts import read_interrupts
from bridge.protocols.fields import Fields, Unreadable
from bridge.protocols.interface import Reading

_Count = Annotated[int, msgspec.Meta(ge=0)]


class _Usage(msgspec.Struct, forbid_unknown_fields=True):
    provider: str = ""
    model: str = ""
    inputTokens: _Count = 0
    outputTokens: _Count = 0
    totalTokens: _Count = 0
    reasoningTokens: _Count = 0
    cachedInputTokens: _Count = 0
    cacheWriteInputTokens: _Count = 0


class _PlainOutcome(msgspec.Struct, forbid_unknown_fields=True):
    type: Literal["success", "cancelled"]
    pendingToolCallIds: list[str] = []


class _PlainEnd(msgspec.Struct, forbid_unknown_fields=True):
    """A run that ended without a question, exactly as the schema has it.

    It is a closed shape: an interrupt has no place to hide in it, not even under a repeated key.
    """

    type: str
    threadId: str
    runId: str
    outcome: _PlainOutcome | msgspec.UnsetType = msgspec.UNSET
    usage: list[_Usage] = []
    timestamp: int = 0
    result: msgspec.Raw = msgspec.Raw()
    rawEvent: msgspec.Raw = msgspec.Raw()
    metadata: dict[str, msgspec.Raw] = {}


_PLAIN_END = msgspec.json.Decoder(_PlainEnd)


def run_finished(event: Event) -> Reading:
    try:
        plain = _PLAIN_END.decode(event.value)
    except (msgspec.DecodeError, RecursionError):
        return _run_finished_strictly(event)
    if plain.outcome and plain.outcome.pendingToolCallIds:
        event.seen.add("pending_tool_calls")
    return event.reading()


def _run_finished_strictly(event: Event) -> Reading:
    fields = event.strictly()
    thread_id, run_id = fields.required_text("threadId"), fields.required_text("runId")
    _check_envelope(fields, event.seen)
    pointer, value = fields.find("outcome")
    if value is None:
        _count_outside_outcome(fields, event.seen)
        return event.reading()
    outcome = Fields(value, pointer, event.seen)
    kind = value.get("type")
    if kind == "interrupt":
        return event.reading(_interrupted(event, thread_id, run_id, outcome))
    if kind not in ("success", "cancelled"):
        raise Unreadable("unknown_outcome", f"{pointer}/type", "not an outcome of AG-UI 1.0")
    _ended_without_question(fields, outcome, event.seen)
    return event.reading()


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


def _ended_without_question(fields: Fields, outcome: Fields, seen: set[str]) -> None:
    pointer, interrupts = outcome.find("interrupts")
    if interrupts:
        raise Unreadable("interrupts_on_success", pointer, "only an interrupt outcome may ask")
    if outcome.texts("pendingToolCallIds"):
        seen.add("pending_tool_calls")
    _count_outside_outcome(fields, seen)


def _interrupted(event: Event, thread_id: str, run_id: str, outcome: Fields) -> Interrupted:
    questions, digest = read_interrupts(event.value, outcome, event.limits, event.seen)
    origin = event.record.origin
    return Interrupted(
        event.thread(thread_id), run_id, NAME, questions, digest, origin.timestamp, origin
    )
