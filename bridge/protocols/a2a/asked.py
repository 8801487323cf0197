"""What a run keeps of its question so that it can be answered: ids, dialect, and the items' shapes.

Written when the question is read and never changed, so that a source's later settings touch no
run that is open.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from bridge.core.model import JsonText, Kind, Limits, Question
from bridge.protocols import slices
from bridge.protocols.a2a.credentials import json_without, text_without
from bridge.protocols.a2a.items import Item
from bridge.protocols.a2a.options import Binding, Shape, Version
from bridge.protocols.fields import Unreadable

IdOf = Literal["message", "generation", "timestamp", "record"]

NO_WORDS: dict[Kind, str] = {
    "input": "The agent needs input and has not said what.",
    "authorization": "The agent needs an authorization and has not said which.",
}


class Asked(msgspec.Struct, frozen=True, omit_defaults=True):
    """The question's surroundings. `id_of` says what its id was made of; `bare`: its record named
    no items, so that others may belong to it."""

    id_of: IdOf
    version: Version = "1.0"
    binding: Binding = "jsonrpc"
    context: str | None = None
    tenant: str | None = None
    endpoint: str | None = None
    extensions: tuple[str, ...] = ()
    generation: int = 0
    bare: bool = False
    shape: Shape | None = None  # as the source's settings want it


class AskedItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one item is answered."""

    shape: Shape
    name: str | None = None
    marks: tuple[str, ...] = ()
    request: str | None = None


_ASKED = msgspec.json.Decoder(Asked)
_ITEM = msgspec.json.Decoder(AskedItem)


def asked_of(native: JsonText | None) -> Asked:
    return Asked("record") if native is None else _ASKED.decode(native)


def item_of(question: Question) -> AskedItem:
    return AskedItem("plain") if question.native is None else _ITEM.decode(question.native)


def encode(native: Asked | AskedItem) -> JsonText:
    return msgspec.json.encode(native)


def questions_of(
    items: tuple[Item, ...],
    asked: Asked,
    question_id: str,
    words: str | None,
    metadata: dict[str, JsonText],
    room: int = Limits().thread_state_bytes,
) -> tuple[Question, ...]:
    """The items as questions, each under the id its framework answers to.

    The same item twice is one. Raises Unreadable with `duplicate_interrupt_id` for two different
    ones under one id, and with `limit` where what they share would take more than `room` bytes: it
    stands in every question, and a run of that size is refused once it is built.
    """
    found = _by_id(items, question_id)
    shared = len(words or "") + sum(map(len, metadata.values()))
    if len(found) > 1 and len(found) * shared > room:
        raise Unreadable("limit", "", "what surrounds the items is too large to go with each")
    clean = text_without(words or NO_WORDS["input"])
    return tuple(_question(key, item, asked, clean, metadata) for key, item in found.items())


def _by_id(items: tuple[Item, ...], question_id: str) -> dict[str, Item]:
    found: dict[str, Item] = {}
    contents: dict[str, list[Any]] = {}  # of ids that come again, taken apart once
    for item in items:
        key = item.id or question_id
        first = found.setdefault(key, item)
        if first is item:
            continue
        if key not in contents:
            contents[key] = _content(first)
        if contents[key] != _content(item):
            raise Unreadable("duplicate_interrupt_id", "", "two items have one id")
    return found


def _question(
    interrupt_id: str,
    item: Item,
    asked: Asked,
    words: str,
    metadata: dict[str, JsonText],
) -> Question:
    """`words` are the status's own, without credentials already."""
    data = slices.given(item.data)
    own = {} if data is None else {"item": json_without(data)}
    return Question(
        interrupt_id=interrupt_id,
        reason=None if item.name is None else text_without(item.name),
        message=text_without(item.message) if item.message else words,
        tool_call_id=item.tool_call_id,
        response_schema=slices.given(item.schema),
        metadata=slices.object_of({**own, **metadata}) if own or metadata else None,
        expires_at_raw=item.expires_at,
        native=encode(
            AskedItem(asked.shape or item.shape, item.name, marks=item.marks, request=item.request)
        ),
    )


def _content(item: Item) -> list[Any]:
    return [item.id, item.message, *(slices.value_of(raw) for raw in (item.schema, item.data))]
