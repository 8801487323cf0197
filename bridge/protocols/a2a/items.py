"""What a status asks for: the items of each framework's convention, else one plain question.

A status has one message; that several things are asked in it, and how each is answered, is the
framework's word. Which framework it is, the question itself shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
from msgspec import Raw

from bridge.core.model import JsonText, Limits
from bridge.protocols.a2a.event import Artifact
from bridge.protocols.a2a.options import Shape
from bridge.protocols.fields import Unreadable
from bridge.protocols.slices import given, members_of

EXTENSIONS = "https://a2a-extensions.agentstack.beeai.dev"
APPROVAL_URI = f"{EXTENSIONS}/interactions/approval/v1"
FORM_URI = f"{EXTENSIONS}/ui/form_request/v1"

# What a wrong answer would do to the task is worse than a schema of ours: LangGraph and Strands
# take null for no answer at all, ADK and AgentStack fail on other shapes.
NOT_NULL = b'{"not":{"type":"null"}}'
_DECISION = (
    b'{"type":"object","properties":{"decision":{"enum":["approve","reject"]}},'
    b'"required":["decision"]}'
)
_FORM = b'{"type":"object","properties":{"values":{"type":"object"}},"required":["values"]}'
_BOOLEAN = b'{"type":"boolean"}'


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing asked for. `data` is its own JSON; an id is missing where a status asks one.

    `marks` are the prefixes that mark ADK's parts; `request` is what kagent's answers go to.
    """

    shape: Shape
    id: str | None = None
    name: str | None = None
    message: str | None = None
    schema: Raw = Raw()
    data: Raw = Raw()
    expires_at: str | None = None
    tool_call_id: str | None = None
    marks: tuple[str, ...] = ()
    request: str | None = None


class Part(msgspec.Struct):
    text: str | None = None
    data: Raw = Raw()
    metadata: Raw = Raw()
    url: str | None = None


class Message(msgspec.Struct):
    """A status's message; 0.3's proto JSON calls its parts `content`, some write snake_case."""

    messageId: str | None = None
    message_id: str | None = None
    contextId: str | None = None
    context_id: str | None = None
    parts: list[Raw] | None = None
    content: list[Raw] | None = None
    metadata: Raw = Raw()
    extensions: list[str] | None = None


class _Boxed(msgspec.Struct):
    data: Raw


class _StrandsInterrupt(msgspec.Struct):
    interruptId: str
    name: str | None = None
    reason: Raw = Raw()
    responseSchema: Raw = Raw()
    expiresAt: str | None = None


class _Strands(msgspec.Struct):
    interrupts: list[Raw]


class _LangGraph(msgspec.Struct):
    id: str
    value: Raw = Raw()
    response_schema: Raw = Raw()


class _Worded(msgspec.Struct):
    """How graphs mostly word what they ask."""

    question: str | None = None
    message: str | None = None
    prompt: str | None = None


class _Approval(msgspec.Struct):
    title: str | None = None
    description: str | None = None
    name: str | None = None


class _Action(msgspec.Struct):
    action_id: str | None = None


T = TypeVar("T")


def read_as(kind: type[T], value: Raw | JsonText) -> T | None:
    """The value in a framework's shape; None where it has another, which is none of an error."""
    try:
        return msgspec.json.decode(bytes(value), type=kind)
    except (msgspec.DecodeError, RecursionError):
        return None


def parts_of(message: Message) -> list[Part]:
    """The message's parts, read alike in all dialects. Raises Unreadable."""
    parts = []
    for raw in message.parts or message.content or ():
        part = read_as(Part, raw)
        if part is None:
            raise Unreadable("malformed", "", "a part of the status message cannot be read")
        if message.parts is None and bytes(part.data):
            boxed = read_as(_Boxed, part.data)
            part.data = boxed.data if boxed is not None else part.data
        parts.append(part)
    return parts


def text_of(parts: Iterable[Part]) -> str | None:
    """The message in words."""
    return "\n".join(part.text for part in parts if part.text) or None


def of_artifacts(artifacts: Iterable[Artifact]) -> tuple[Item, ...]:
    """LangGraph's items: data parts of the newest artifact that is called Interrupt."""
    items: tuple[Item, ...] = ()
    for artifact in artifacts:
        if artifact.name != "Interrupt":
            continue
        newest = []
        for part in read_as(list[Part], artifact.parts) or []:
            item = read_as(_LangGraph, part.data)
            if item is not None:
                schema = Raw(given(item.response_schema) or NOT_NULL)
                said = read_as(_Worded, item.value) or _Worded()
                worded = said.question or said.message or said.prompt
                words = read_as(str, item.value) or worded or artifact.description
                newest.append(Item("langgraph", item.id, None, words, schema, part.data))
        items = tuple(newest) or items
    return items


def extensions_under(metadata: Raw) -> list[str]:
    """The members of metadata that are called like the address of an extension."""
    names = members_of(bytes(metadata)) if bytes(metadata) else {}
    return [name for name in names if name.startswith(("https://", "http://"))]


def check_count(items: Sequence[Item], limits: Limits) -> None:
    if len(items) > limits.interrupts_per_run:
        raise Unreadable("limit", "", f"more than {limits.interrupts_per_run} items")


def of_parts(parts: Sequence[Part]) -> Iterator[Item]:
    """Strands' interrupts."""
    for part in parts:
        found = read_as(_Strands, part.data) if bytes(part.data) else None
        for raw in found.interrupts if found is not None else ():
            item = read_as(_StrandsInterrupt, raw)
            if item is None or not item.interruptId:
                continue  # somebody else's word: the part is shown with the question
            schema = Raw(given(item.responseSchema) or NOT_NULL)
            reason = read_as(str, item.reason)
            yield Item("strands", item.interruptId, item.name, reason, schema, raw, item.expiresAt)


def of_metadata(message: Message) -> Iterator[Item]:
    """Questions that stand in the message's metadata, under the address of an extension."""
    metadata = members_of(bytes(message.metadata))
    if APPROVAL_URI in metadata:
        asked = read_as(_Approval, metadata[APPROVAL_URI]) or _Approval()
        words = [text for text in (asked.title, asked.description) if text]
        data = Raw(metadata[APPROVAL_URI])
        yield Item("approval", None, asked.name, "\n".join(words) or None, Raw(_DECISION), data)
    elif FORM_URI in metadata:
        form = read_as(_Approval, metadata[FORM_URI]) or _Approval()
        words = [text for text in (form.title, form.description) if text]
        yield Item(
            "form", None, None, "\n".join(words) or None, Raw(_FORM), Raw(metadata[FORM_URI])
        )
    elif (action := read_as(_Action, message.metadata)) is not None and action.action_id:
        yield Item("action", action.action_id, None, None, Raw(_BOOLEAN))
