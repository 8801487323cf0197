"""kagent's extension for people in the loop, version 1: tools to approve, and questions.

A status message lists the extension and has the request in its metadata under the same address;
both are required. One message answers everything that was asked, and an omission is no approval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Raw

from bridge.core.model import Entry, JsonText
from bridge.protocols import slices
from bridge.protocols.a2a.items import Item, Message, read_as
from bridge.protocols.fields import Unreadable

URI: Final = "https://kagent.dev/extensions/hitl/v1"
TOOL: Final = "kagent_tool"
QUESTION: Final = "kagent_question"
SHAPES: Final = (TOOL, QUESTION)

_APPROVAL = (
    b'{"type":"object","properties":{"approved":{"type":"boolean"},'
    b'"rejection_reason":{"type":["string","null"]}},"required":["approved"],"additionalProperties":false}'
)


class _Tool(msgspec.Struct):
    id: str = ""
    call_id: str | None = None
    name: str | None = None


class _Nested(msgspec.Struct):
    tools: list[Raw]


class _Question(msgspec.Struct):
    question: str | None = None
    choices: list[str] | None = None
    multiple: bool | None = None


class _Request(msgspec.Struct):
    """Of either type. What a child agent asks stands under `nested`, and is to be answered."""

    type: str
    id: str | None = None
    hint: str | None = None
    tools: list[Raw] | None = None
    questions: list[Raw] | None = None
    nested: _Nested | None = None


def items_of(message: Message) -> Iterator[Item]:
    """What a message asks by the extension; nothing where it is none of its requests.

    Raises Unreadable for a request that could not be answered in full.
    """
    raw = slices.members_of(bytes(message.metadata)).get(URI)
    if raw is None or URI not in (message.extensions or ()):
        return
    request = read_as(_Request, raw)
    if request is None:
        return
    tools = request.nested.tools if request.nested is not None else request.tools or []
    if request.type == "tool_approval_request":
        for raw in tools:
            tool = _read_tool([raw])
            yield Item(
                TOOL,
                id=tool.id,
                name=tool.name,
                message=request.hint or None,
                schema=Raw(_APPROVAL),
                data=raw,
                tool_call_id=tool.call_id,
            )
    elif request.type == "ask_user_request":
        request_id = request.id if request.nested is None else _read_tool(tools[0:1]).id
        if not request_id:
            raise Unreadable("malformed", "", "a request of kagent's extension has no id")
        for number, raw in enumerate(request.questions or ()):
            asked = read_as(_Question, raw) or _Question()
            yield Item(
                QUESTION,
                id=f"{request_id}/{number}",  # its request's, and its place in it: it has none
                message=asked.question or None,
                schema=Raw(_texts(asked)),
                data=raw,
                request=request_id,
            )


def surroundings(metadata: JsonText) -> JsonText:
    """A message's metadata without what its items show: all of it would go with each of them."""
    members = slices.members_of(metadata)
    request = slices.members_of(members.get(URI, b""))
    if not request:
        return metadata
    nested = slices.members_of(request.get("nested", b""))
    if nested:
        request["nested"] = slices.object_of(_without_items(nested))
    return slices.object_of(members | {URI: slices.object_of(_without_items(request))})


def _without_items(members: dict[str, JsonText]) -> dict[str, JsonText]:
    return {name: value for name, value in members.items() if name not in ("tools", "questions")}


def _read_tool(raws: Sequence[Raw]) -> _Tool:
    tool = read_as(_Tool, raws[0]) if raws else None
    if tool is None or not tool.id:
        raise Unreadable("malformed", "", "a tool of kagent's extension has no id")
    return tool


def _texts(asked: _Question) -> JsonText:
    """A text, or texts; what may be chosen is shown and does not bind, as kagent takes any text."""
    text: dict[str, object] = {"type": "string"}
    if asked.choices:
        text["examples"] = asked.choices
    several: dict[str, object] = {"type": "array", "items": text, "minItems": 1}
    if not asked.multiple:
        several["maxItems"] = 1
    return msgspec.json.encode({"anyOf": [text, several]})


# --- Answers --------------------------------------------------------------------------------------


def response(entries: Sequence[Entry], shape: str, request: str | None) -> JsonText:
    """The metadata that answers all entries, which are of one shape and in the request's order."""
    if shape == TOOL:
        approvals = []
        for entry in entries:
            if entry.payload is not None:
                decision = slices.members_of(entry.payload)
            else:  # a tool that nobody decided on is rejected, and the answer says why
                reason = slices.text(f"not approved: {entry.closed_reason}")
                decision = {"approved": b"false", "rejection_reason": reason}
            item_id = slices.text(entry.question.interrupt_id)
            approvals.append(slices.object_of({"id": item_id, **decision}))
        members = {"type": b'"tool_approval_response"', "approvals": slices.array_of(approvals)}
        return slices.object_of(members)
    answers = []
    for entry in entries:
        payload = b"null" if entry.payload is None else entry.payload.strip()
        texts = payload if payload.startswith(b"[") else slices.array_of([payload])
        answers.append(slices.object_of({"answer": texts}))
    return slices.object_of(
        {
            "type": b'"ask_user_response"',
            "id": slices.text(request or ""),
            "answers": slices.array_of(answers),
        }
    )
