"""Answers as the message that each framework takes them in: its parts, and its metadata.

All items of a question go into one message. Payloads are put in as they were given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bridge.core.model import Entry, JsonText
from bridge.protocols import slices
from bridge.protocols.a2a import adk, kagent
from bridge.protocols.a2a.asked import Asked, item_of
from bridge.protocols.a2a.items import APPROVAL_URI, FORM_URI

_NULL = b"null"
_URIS = {
    "approval": APPROVAL_URI,
    "form": FORM_URI,
    kagent.TOOL: kagent.URI,
    kagent.QUESTION: kagent.URI,
}

# LangGraph takes an object for answers by id only where every key looks like its own ids.
_LANGGRAPH_ID = re.compile(r"[0-9a-f]{32}")


def parts(entries: Sequence[Entry], asked: Asked) -> JsonText:
    """The message's parts, in the order of the run."""
    resumed = {
        entry.question.interrupt_id: _payload(entry)
        for entry in entries
        if item_of(entry.question).shape == "langgraph"
    }
    found = []
    if resumed:
        # By id, which LangGraph needs where more is pending than it has shown; else the value.
        first, payload = next(iter(resumed.items()))
        by_id = len(resumed) > 1 or _LANGGRAPH_ID.fullmatch(first)
        found.append(_data(asked, resume=slices.object_of(resumed) if by_id else payload))
    for entry in entries:
        found.extend(_parts(entry, asked))
    return slices.array_of(found)


def metadata(entries: Sequence[Entry]) -> JsonText | None:
    """The message's metadata: decisions and forms stand under the address of their extension."""
    members: dict[str, JsonText | None] = {}
    for entry in entries:
        how = item_of(entry.question)
        if how.shape in kagent.SHAPES:
            members[kagent.URI] = kagent.response(entries, how.shape, how.request)
        elif how.shape in _URIS:
            members[_URIS[how.shape]] = _payload(entry)
    return slices.object_of(members) if members else None


def takes_a_no(entry: Entry) -> bool:
    """Whether an answer can say that the item was given up, so that the task goes on."""
    return item_of(entry.question).shape == kagent.TOOL


def extensions(entries: Sequence[Entry]) -> list[str]:
    """The extensions that the answer itself makes use of."""
    shapes = (item_of(entry.question).shape for entry in entries)
    return sorted({_URIS[shape] for shape in shapes if shape in _URIS})


def _parts(entry: Entry, asked: Asked) -> Iterator[JsonText]:
    payload, interrupt_id = _payload(entry), slices.text(entry.question.interrupt_id)
    how = item_of(entry.question)
    match how.shape:
        case "plain":
            is_text = payload.startswith(b'"') or payload == _NULL
            yield _text(payload, asked) if is_text else _value(payload, asked)
        case "text":
            yield _text(payload, asked)
        case "data":
            yield _value(payload, asked)
        case "adk":
            name = None if how.name is None else slices.text(how.name)
            # ADK's responses are objects; `result` is the name it unwraps by itself.
            is_object = payload.startswith(b"{")
            given = payload if is_object else slices.object_of({"result": payload})
            response = {"id": interrupt_id, "name": name, "response": given}
            yield _data(asked, adk.answer_marks(how.marks or ("adk",)), **response)
        case "strands":
            answer = {"interruptId": interrupt_id, "response": payload}
            yield _data(asked, interruptResponse=slices.object_of(answer))
        case "action":
            yield _data(asked, action_id=interrupt_id, confirmed=payload)
        case _:
            return  # said in the metadata, or with the other items


def _payload(entry: Entry) -> JsonText:
    return _NULL if entry.payload is None else entry.payload.strip()


def _text(payload: JsonText, asked: Asked) -> JsonText:
    """A text part: the string, or the JSON text of any other value; nothing said is empty."""
    if not payload.startswith(b'"'):
        payload = slices.text("" if payload == _NULL else payload.decode())
    kind = slices.text("text") if _needs_kind(asked) else None
    return slices.object_of({"kind": kind, "text": payload})


def _value(payload: JsonText, asked: Asked) -> JsonText:
    """A data part; before 1.0 only objects can be data."""
    if asked.version == "0.3":
        return _boxed(payload, None, asked) if payload.startswith(b"{") else _text(payload, asked)
    return slices.object_of({"data": payload, "mediaType": slices.text("application/json")})


def _data(asked: Asked, marks: JsonText | None = None, **members: JsonText | None) -> JsonText:
    return _boxed(slices.object_of(members), marks, asked)


def _boxed(data: JsonText, marks: JsonText | None, asked: Asked) -> JsonText:
    if asked.version == "0.3" and asked.binding == "rest":
        data = slices.object_of({"data": data})
    kind = slices.text("data") if _needs_kind(asked) else None
    return slices.object_of({"kind": kind, "data": data, "metadata": marks})


def _needs_kind(asked: Asked) -> bool:
    return asked.version == "0.3" and asked.binding == "jsonrpc"
