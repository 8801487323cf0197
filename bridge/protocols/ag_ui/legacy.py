"""`CUSTOM on_interrupt`: how agents ask where they do not end a run with the interrupt outcome.

It names neither thread nor run, and each framework puts something else into it:

- LangGraph its own interrupt in `rawEvent`, what the graph asked in `value`: a text, or JSON as a
  text. The resume is LangGraph's own `command`.
- CrewAI a whole interrupt of AG-UI in `value`, Mastra the tool call that it suspended. Both take a
  resume entry by the id that their interrupt outcome would have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Raw

from bridge.core import json_text
from bridge.core.announcing import SYNTHETIC, UNASKED
from bridge.core.json_text import JsonError
from bridge.core.model import Announced, Announcement, JsonText, Question
from bridge.protocols.ag_ui.event import Event
from bridge.protocols.fields import snake_case
from bridge.protocols.interface import Reading
from bridge.protocols.slices import given, members_of, object_of

REASON: Final = "on_interrupt"
_MASTRA: Final = "mastra_suspend"


class Command(msgspec.Struct, omit_defaults=True):
    """What the body of a resume needs of a question that takes no entry of AG-UI."""

    parsed: bool = False  # the agent reads a single text as JSON where it is some
    refusal: Raw = Raw()


_COMMAND = msgspec.json.Decoder(Command)


class _Custom(msgspec.Struct):
    value: Raw = Raw()
    rawEvent: Raw = Raw()
    raw_event: Raw = Raw()


_CUSTOM = msgspec.json.Decoder(_Custom)


def on_interrupt(event: Event) -> Reading:
    """A question of the run under way on the thread of the record's key, if it names none."""
    event.seen.add("custom_on_interrupt")
    if not event.options.legacy:
        return event.reading()
    fields = event.fields()
    thread_id = fields.text("threadId") or event.key_text()
    if not thread_id:
        reading = event.unattributable()
        return msgspec.structs.replace(reading, counts=(*reading.counts, UNASKED))
    question = _question(event, fields.text("subagentRunId"))
    free = (question.response_schema, question.metadata)
    shown = [  # what makes two questions one: their id, and all that is shown of them
        question.interrupt_id,
        question.reason,
        question.message,
        question.tool_call_id,
        question.expires_at_raw,
        *(None if each is None else json_text.value(each) for each in free),
    ]
    announced = Announced(
        thread=event.thread(thread_id),
        announcement=Announcement(question, json_text.digest(shown)),
        origin=event.record.origin,
        run_id=fields.text("runId"),
    )
    return event.reading(announced)


def command_of(question: Question) -> Command | None:
    """How the question is resumed; None where it takes an entry as AG-UI has it."""
    return None if question.native is None else _COMMAND.decode(question.native)


def _question(event: Event, subagent: str | None) -> Question:
    custom = _CUSTOM.decode(event.value)
    raw = given(custom.rawEvent) or given(custom.raw_event)
    asked = _inside(bytes(custom.value))
    members = members_of(asked)
    langgraph_id = _id_of(raw) if raw is not None else None
    if langgraph_id is None:
        standard = _standard(members)
        if standard is not None:
            return msgspec.structs.replace(standard, subagent_run_id=subagent)
        if "value" in members:  # LangGraph's own interrupt, where others have what it asked
            langgraph_id = _id_of(asked)
            asked = _inside(members["value"]) if langgraph_id is not None else asked
            members = members_of(asked)
    command = Command(langgraph_id is not None, Raw(event.options.legacy_refusal or b""))
    words = msgspec.json.decode(asked, type=str) if asked.startswith(b'"') else None
    flags = () if langgraph_id is not None else (SYNTHETIC,)
    return Question(
        interrupt_id=langgraph_id or "",
        reason=_text(members, "reason") or REASON,
        message=_text(members, "message") or words,
        tool_call_id=_text(members, "toolCallId"),
        response_schema=_object(members, "responseSchema"),
        expires_at_raw=_text(members, "expiresAt"),
        metadata=object_of({REASON: asked or b"null"}),
        flags=flags if command.refusal else (*flags, "no_refusal"),
        native=msgspec.json.encode(command),
        subagent_run_id=subagent,
    )


def _standard(members: Mapping[str, JsonText]) -> Question | None:
    """The question of an agent that takes entries by the id which is known from what it asks."""
    if _text(members, "type") == _MASTRA:
        run, call = _text(members, "runId"), _text(members, "toolCallId")
        if run is None or call is None:
            return None
        schema = _inside(members.get("resumeSchema", b""))
        return Question(
            interrupt_id=f"{run}::{call}",
            reason="mastra:tool_suspend",
            tool_call_id=call,
            response_schema=schema if schema.startswith(b"{") else None,
            metadata=object_of({"mastra": object_of(members)}),
        )
    interrupt_id, reason = _text(members, "id"), _text(members, "reason")
    if interrupt_id is None or reason is None:
        return None
    return Question(
        interrupt_id=interrupt_id,
        reason=reason,
        message=_text(members, "message"),
        tool_call_id=_text(members, "toolCallId"),
        response_schema=_object(members, "responseSchema"),
        expires_at_raw=_text(members, "expiresAt"),
        metadata=_object(members, "metadata"),
    )


def _inside(value: JsonText) -> JsonText:
    """JSON out of the text that it was put into; a text that is none stays one."""
    if not value.startswith(b'"'):
        return value
    inner = msgspec.json.decode(value, type=str).strip().encode()
    if not inner.startswith((b"{", b"[")):
        return value
    try:
        json_text.read(inner)
    except JsonError:
        return value
    return inner


def _id_of(interrupt: JsonText) -> str | None:
    """LangGraph's id of its interrupt; before 0.4 it had another name, or none."""
    members = members_of(interrupt)
    return _text(members, "id") or _text(members, "interruptId")


def _text(members: Mapping[str, JsonText], name: str) -> str | None:
    """A member that is a text, by either of its names; what a graph put there instead is shown."""
    value = _either(members, name)
    return msgspec.json.decode(value, type=str) if value.startswith(b'"') else None


def _object(members: Mapping[str, JsonText], name: str) -> JsonText | None:
    value = _either(members, name)
    return value if value.startswith(b"{") else None


def _either(members: Mapping[str, JsonText], name: str) -> JsonText:
    return members.get(name) or members.get(snake_case(name)) or b""
