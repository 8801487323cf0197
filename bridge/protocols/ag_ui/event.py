"""One AG-UI event before anybody knows whether it matters: its type, found cheaply.

Most events of a topic are none of ours; they are looked at by their `type` and read past.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from bridge.core.json_text import JsonError
from bridge.core.model import Counted, Limits, ThreadKey
from bridge.core.record import Record
from bridge.protocols.ag_ui.agent import agent_of
from bridge.protocols.ag_ui.options import Options
from bridge.protocols.event import RawEvent, loosely
from bridge.protocols.fields import Fields, Unreadable, spelling
from bridge.protocols.hidden import refuse_hidden, spells_interrupt

NAME: Final = "ag-ui"

INPUT_TYPES: Final = frozenset({"RUN_STARTED", "RUN_FINISHED", "RUN_ERROR"})

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
OTHER_TYPES: Final = frozenset(
    {f"{family}_{step}" for family, steps in _FAMILIES.items() for step in steps} | {"RAW"}
)


def asks(value: dict[str, Any]) -> bool:
    """Whether this is, in any spelling, an event that asks somebody."""
    kind, outcome = value.get("type"), value.get("outcome")
    if not isinstance(kind, str):
        return False
    if spelling(kind) == "runfinished" and isinstance(outcome, dict):
        ending = outcome.get("type")
        return bool(outcome.get("interrupts")) or (
            isinstance(ending, str) and spelling(ending) == "interrupt"
        )
    return kind == "CUSTOM" and value.get("name") == "on_interrupt"


class Event(RawEvent[Options]):
    """One event of AG-UI, as a source with these settings reads it."""

    __slots__ = ("_agent", "_unattributed")

    def __init__(
        self, value: bytes, record: Record, source: str, limits: Limits, options: Options
    ) -> None:
        super().__init__(value, record, source, limits, options)
        self._agent: str | None = None
        self._unattributed = False

    def fields(self) -> Fields:
        """The members of the whole event, held to every rule of strict JSON."""
        return Fields(self.strictly(), "", self.seen)

    def inside(self, value: bytes, strict: Any) -> Event:
        """The event that this one has inside: its slice, and its value as it was read strictly."""
        inner = Event(value, self.record, self.source, self.limits, self.options)
        inner.seen = self.seen
        inner._strict = strict
        return inner

    def agent(self) -> str:
        """The agent whose event it is; empty where nothing says it."""
        if self._agent is None:
            self._agent = agent_of(self.value, self.record, self.options, self.seen)
        return self._agent

    def lacks_agent(self) -> bool:
        """Whether it does not say whose it is, in a source whose events do; then counted.

        It may be of any agent of its thread: what would close or change something does nothing.
        """
        lacking = bool(self.options.agent_pointer) and not self.agent()
        self._unattributed |= lacking
        return lacking

    def counts(self) -> tuple[Counted, ...]:
        counts = super().counts()
        return (*counts, Counted("unattributable", self.source)) if self._unattributed else counts

    def thread(self, thread_id: str) -> ThreadKey:
        """The thread as this event's agent has it."""
        return ThreadKey(self.source, self.agent(), thread_id)


class Peek(msgspec.Struct):
    """All that is needed to see that an event is none of ours."""

    type: str
    name: msgspec.Raw = msgspec.Raw()


_PEEK = msgspec.json.Decoder(Peek)


def peek(event: Event) -> Peek:
    """The event's type and name, at less than the price of parsing it.

    Raises JsonError or Unreadable where the value is no JSON object with a type.
    """
    try:
        return _PEEK.decode(event.value)
    except (msgspec.DecodeError, RecursionError):
        pass
    # Streams cut emoji into lone surrogates and Python writes NaN into snapshots: neither matters
    # in an event that nobody here reads.
    broken: JsonError | None = None
    try:
        members = event.strictly()
    except JsonError as error:
        broken, members = error, loosely(event.value)
    kind = members.get("type") if isinstance(members, dict) else None
    if isinstance(kind, str) and (broken is None or kind not in INPUT_TYPES):
        return Peek(kind, msgspec.Raw(json.dumps(members.get("name")).encode()))
    if broken is not None:
        raise broken
    if isinstance(members, dict):
        detail = 'an envelope: read by continuity = true or event_pointer = "/event"'
        if not isinstance(members.get("event"), dict):
            refuse_hidden(event, spells_interrupt, asks)
            detail = "must be a string"
        raise Unreadable("malformed", "/type", detail)
    raise Unreadable("malformed", "", "must be an object")
