"""AG-UI events to core inputs: which run ended with which questions, and who went on.

An event is looked at by its `type` alone and read past, unless it is one of the few that matter.
Nothing is inferred from the order of records.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Final, Literal, cast

import msgspec

from bridge.core import json_text
from bridge.core.json_text import JsonError
from bridge.core.model import (
    Counted,
    Input,
    Interrupted,
    Limits,
    MovedOn,
    Reason,
    Refusal,
    RunFailed,
    ThreadKey,
)
from bridge.protocols.ag_ui_interrupts import read_interrupts
from bridge.protocols.fields import Fields, Unreadable
from bridge.protocols.interface import Reading, Record

NAME: Final = "ag-ui"

# Read past without a word. A type that stands nowhere here is read past too, and counted.
_FAMILIES = {
    "TEXT_MESSAGE": ("START", "CONTENT", "END", "CHUNK"),
    "THINKING": ("START", "END"),
    "THINKING_TEXT_MESSAGE": ("START", "CONTENT", "END"),
    "REASONING": ("START", "END", "ENCRYPTED_VALUE"),
    "REASONING_MESSAGE": ("START", "CONTENT", "END", "CHUNK"),
    "TOOL_CALL": ("START", "ARGS", "END", "CHUNK", "RESULT"),
    "STATE": ("SNAPSHOT", "DELTA"),
    "MESSAGES": ("SNAPSHOT",),
    "ACTIVITY": ("SNAPSHOT", "DELTA"),
    "STEP": ("STARTED", "FINISHED"),
    "SUBAGENT": ("STARTED", "FINISHED", "ERROR"),
}
_OTHER_TYPES = {f"{family}_{step}" for family, steps in _FAMILIES.items() for step in steps} | {
    "RAW"
}
_NOTHING = Reading()


def read(record: Record, source: str, limits: Limits) -> Reading:
    """What one event means. Strict JSON is asked only of events that become inputs."""
    value = record.value
    if not value:
        return Reading(refusal=Refusal("empty", "the value is empty"))
    if len(value) > limits.record_bytes:
        return Reading(refusal=Refusal("too_large", f"larger than {limits.record_bytes} bytes"))
    event = _Event(value, record, source, limits)
    try:
        peek = _peek(event)
        if peek.type in _OTHER_TYPES:
            return _NOTHING
        inputs = _read_known(peek, event)
    except JsonError as error:
        return event.refused(Refusal(cast(Reason, error.code), str(error)))
    except Unreadable as error:
        return event.refused(error.refusal)
    return Reading(inputs, counts=event.counts())


class _Event:
    """One event on its way through the reader: where it came from, what was forgiven in it."""

    __slots__ = ("limits", "record", "seen", "source", "value")

    def __init__(self, value: bytes, record: Record, source: str, limits: Limits) -> None:
        self.value = value
        self.record = record
        self.source = source
        self.limits = limits
        self.seen: set[str] = set()

    def strictly(self) -> Fields:
        """The whole event, held to every rule of strict JSON."""
        return Fields(json_text.read(self.value, self.limits.json_depth), "", self.seen)

    def thread(self, thread_id: str) -> ThreadKey:
        return ThreadKey(self.source, "", thread_id)

    def refused(self, refusal: Refusal) -> Reading:
        return Reading(refusal=refusal, counts=self.counts())

    def counts(self) -> tuple[Counted, ...]:
        return tuple(
            Counted("unattributable_total")
            if kind == "unattributable"
            else Counted("lenient_total", kind)
            for kind in sorted(self.seen)
        )


# --- Which event is it ------------------------------------------------------------------------


class _Peek(msgspec.Struct):
    type: str
    name: msgspec.Raw = msgspec.Raw()


_PEEK = msgspec.json.Decoder(_Peek)


def _peek(event: _Event) -> _Peek:
    """The event's type and name, at less than the price of parsing it."""
    try:
        return _PEEK.decode(event.value)
    except (msgspec.DecodeError, RecursionError):
        return _peek_odd_text(event)


def _peek_odd_text(event: _Event) -> _Peek:
    """The type in text that the fast decoder refuses, or what is wrong with that text.

    Streams cut emoji into lone surrogates and Python writes NaN into snapshots: neither matters in
    an event that nobody here reads.
    """
    broken_rule: JsonError | None = None
    try:
        members = json_text.read(event.value, event.limits.json_depth)
    except JsonError as error:
        if error.code != "json_rules":
            raise
        broken_rule = error
        members = json.loads(event.value)
    kind = members.get("type") if isinstance(members, dict) else None
    if isinstance(kind, str) and (broken_rule is None or kind not in _STRICT_TYPES):
        return _Peek(kind, msgspec.Raw(json.dumps(members.get("name")).encode()))
    if broken_rule is not None:
        raise broken_rule
    if isinstance(members, dict):
        raise Unreadable("malformed", "/type", "must be a string")
    raise Unreadable("malformed", "", "must be an object")


def _read_known(peek: _Peek, event: _Event) -> tuple[Input, ...]:
    reader = _READERS.get(peek.type)
    if reader is not None:
        return reader(event)
    if peek.type == "CUSTOM":
        if bytes(peek.name) == b'"on_interrupt"':
            event.seen.add("custom_on_interrupt")
    elif re.sub(r"[\W_]", "", peek.type).casefold() == "runfinished":
        # A misspelt end of a run could hide an interrupt: it is never taken for something else.
        raise Unreadable("malformed", "/type", "spells RUN_FINISHED in another way")
    else:
        event.seen.add("unknown_type")
    return ()


# --- A run ended ------------------------------------------------------------------------------

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


def _run_finished(event: _Event) -> tuple[Input, ...]:
    try:
        plain = _PLAIN_END.decode(event.value)
    except (msgspec.DecodeError, RecursionError):
        return _run_finished_strictly(event)
    if plain.outcome and plain.outcome.pendingToolCallIds:
        event.seen.add("pending_tool_calls")
    return ()


def _run_finished_strictly(event: _Event) -> tuple[Input, ...]:
    fields = event.strictly()
    thread_id, run_id = fields.required_text("threadId"), fields.required_text("runId")
    _check_envelope(fields, event.seen)
    pointer, value = fields.find("outcome")
    if value is None:
        _count_outside_outcome(fields, event.seen)
        return ()
    outcome = Fields(value, pointer, event.seen)
    kind = value.get("type")
    if kind == "interrupt":
        return (_interrupted(event, thread_id, run_id, outcome),)
    if kind not in {"success", "cancelled"}:
        raise Unreadable("unknown_outcome", f"{pointer}/type", "not an outcome of AG-UI 1.0")
    _ended_without_question(fields, outcome, event.seen)
    return ()


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


def _interrupted(event: _Event, thread_id: str, run_id: str, outcome: Fields) -> Interrupted:
    questions, digest = read_interrupts(event.value, outcome, event.limits, event.seen)
    origin = event.record.origin
    return Interrupted(
        event.thread(thread_id), run_id, NAME, questions, digest, origin.timestamp, origin
    )


# --- A run began, or failed -------------------------------------------------------------------


def _run_started(event: _Event) -> tuple[Input, ...]:
    """Whoever starts a run may be continuing the interrupted one.

    `covers` is what its resume list names. Without a list it is empty, which closes nothing, since
    an open run has at least one open interrupt; the start of our own resume is still confirmed.
    """
    fields = event.strictly()
    thread_id, run_id = fields.required_text("threadId"), fields.required_text("runId")
    fields.check_integer("timestamp")
    covers: tuple[str, ...] = ()
    pointer, given = fields.find("input")
    if given is not None:
        covers = _resumed_ids(Fields(given, pointer, event.seen), event.seen)
    origin = event.record.origin
    return (
        MovedOn(
            event.thread(thread_id),
            "resumed_elsewhere",
            origin.timestamp,
            origin,
            by_run=run_id,
            covers=covers,
        ),
    )


def _resumed_ids(given: Fields, seen: set[str]) -> tuple[str, ...]:
    pointer, entries = given.array("resume")
    ids = []
    for index, value in enumerate(entries):
        entry = Fields(value, f"{pointer}/{index}", seen)
        ids.append(entry.required_text("interruptId"))
        if entry.text("status") not in {"resolved", "cancelled"}:
            raise Unreadable("malformed", f"{pointer}/{index}/status", "resolved or cancelled")
        entry.object("metadata")
    return tuple(ids)


def _run_error(event: _Event) -> tuple[Input, ...]:
    """A RUN_ERROR names no run: it belongs to the thread the record's key names, or to nobody."""
    fields = event.strictly()
    fields.required_text("message")
    fields.text("code")
    fields.check_integer("timestamp")
    thread_id = fields.text("threadId") or _as_text(event.record.key)
    if not thread_id:
        event.seen.add("unattributable")
        return ()
    origin = event.record.origin
    return (RunFailed(event.thread(thread_id), origin.timestamp, origin),)


def _as_text(key: bytes | None) -> str | None:
    try:
        return None if key is None else key.decode()
    except UnicodeDecodeError:
        return None


_READERS: Mapping[str, Callable[[_Event], tuple[Input, ...]]] = {
    "RUN_FINISHED": _run_finished,
    "RUN_STARTED": _run_started,
    "RUN_ERROR": _run_error,
}
_STRICT_TYPES = frozenset(_READERS)
