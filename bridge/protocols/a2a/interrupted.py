"""A status that asks, as a core input: its question's id, what is asked, and where it stands.

One status is one run of questions. The task goes on only when all of them are settled.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import msgspec

from bridge.core import json_text
from bridge.core.instants import parse_instant
from bridge.core.model import Carry, Input, Interrupted, JsonText, Kind, Millis, Origin, Question
from bridge.protocols import slices
from bridge.protocols.a2a import items as found
from bridge.protocols.a2a.asked import Asked, IdOf, encode, questions
from bridge.protocols.a2a.authorization import authorization
from bridge.protocols.a2a.credentials import json_without
from bridge.protocols.a2a.event import NAME, Artifact, Event, Frame, Status, Told
from bridge.protocols.a2a.items import Item, Message, Part
from bridge.protocols.a2a.options import Binding, Version
from bridge.protocols.fields import Unreadable
from bridge.protocols.slices import given

MAX_GENERATION = 2**63 - 1


def interrupted(event: Event, told: Told, task_id: str, kind: Kind) -> tuple[Input, ...]:
    """The question of an interrupted status; nothing where the source's filter takes it out.

    Raises Unreadable where it can't be read as one.
    """
    frame = told.frame
    assert frame.status is not None
    message = _message(frame.status, told.pointer)
    parts = found.parts_of(message)
    items = _items(event, frame, message, parts)
    if kind == "input" and _filtered(event, message, parts, items):
        event.seen.add("filtered_input_required")
        return ()
    question = _interrupted(event, told, task_id, kind, message, parts, items)
    # Kept items are for this question or for none.
    return question, Carry(question.thread, None, question.origin)


def instant_of(status: Status, origin: Origin) -> Millis:
    """When the status was made; where it does not say, when its record was."""
    at = None if status.timestamp is None else parse_instant(status.timestamp)
    return origin.timestamp if at is None else at


def generation_of(frame: Frame) -> int:
    """Counts up from 1; 0 where the server has none. As an int64 it is written as a string."""
    written = frame.generation
    if isinstance(written, str):
        written = int(written) if written.isascii() and written.isdigit() else 0
    return written if written is not None and 0 < written <= MAX_GENERATION else 0


def _message(status: Status, pointer: str) -> Message:
    raw = given(status.message)
    if raw is None:
        return Message()
    message = found.read_as(Message, raw)
    if message is None:
        raise Unreadable("malformed", f"{pointer}/status/message", "cannot be read as a message")
    return message


def _items(event: Event, frame: Frame, message: Message, parts: list[Part]) -> tuple[Item, ...]:
    items = found.of_message(message, parts)
    raw = given(frame.artifacts)
    if not items and raw is not None:
        items = found.of_artifacts(found.read_as(list[Artifact], raw) or ())
    if len(items) > event.limits.interrupts_per_run:
        raise Unreadable("limit", "", f"more than {event.limits.interrupts_per_run} items")
    return items


def _filtered(event: Event, message: Message, parts: list[Part], items: tuple[Item, ...]) -> bool:
    match event.options.input_required_filter:
        case "without_items":
            return not items
        case "without_message":
            return not items and not parts
        case _:
            return False


def _interrupted(
    event: Event,
    told: Told,
    task_id: str,
    kind: Kind,
    message: Message,
    parts: list[Part],
    items: tuple[Item, ...],
) -> Interrupted:
    frame, origin = told.frame, event.record.origin
    assert frame.status is not None
    generation = generation_of(frame)
    question_id, id_of = _question_id(frame.status, message, generation, origin)
    asked = _asked(event, frame, message, id_of, generation, not items)
    metadata = _metadata(frame, message, kind, asked)
    if kind == "authorization" or not items:
        metadata |= _shown(message, parts, kind)
    words = found.text_of(parts)
    asking: tuple[Question, ...]
    if kind == "authorization":
        asking = (authorization(question_id, message, words, items, metadata),)
    else:
        asking = questions(items or (_plain(told),), asked, question_id, words, metadata)
    return Interrupted(
        event.thread(task_id),
        question_id,
        NAME,
        asking,
        _digest(kind, question_id, message, parts),
        instant_of(frame.status, origin),
        origin,
        generation,
        encode(asked),
    )


def _digest(kind: Kind, question_id: str, message: Message, parts: list[Part]) -> bytes:
    """What makes two statuses the same question: the words and the data of their message.

    Not how a dialect writes them, nor items from elsewhere: a snapshot of the task may lack those.
    """
    words, data = found.text_of(parts), [_value(part.data) for part in parts]
    content = [words, data, _value(message.metadata)] if message.messageId else question_id
    return json_text.digest([kind, content])


def _plain(told: Told) -> Item:
    """One question without items. LangGraph's own mix of dialects says how it wants its answer."""
    status = told.frame.status
    is_hybrid = told.frame.kind is not None and status is not None and _is_proto(status.state)
    return Item("langgraph" if is_hybrid else "plain")


def _is_proto(state: str | int | None) -> bool:
    return isinstance(state, str) and state.startswith("TASK_STATE_")


def _question_id(
    status: Status, message: Message, generation: int, origin: Origin
) -> tuple[str, IdOf]:
    """The message's id; without one, what tells this status from the task's others."""
    if message.messageId:
        return message.messageId, "message"
    if generation:
        return f"generation:{generation}", "generation"
    at = None if status.timestamp is None else _exact_instant(status.timestamp)
    if at is not None:
        return f"at:{at}", "timestamp"
    return f"record:{origin}", "record"


def _exact_instant(text: str) -> str | None:
    """One spelling for each instant, with all its digits, whatever zone it is written in."""
    millis = parse_instant(text)
    if millis is None:
        return None
    fraction = re.search(r"[.,](\d+)", text)
    digits = fraction[1].rstrip("0") if fraction else ""
    try:
        whole = datetime.fromtimestamp(millis // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (OverflowError, ValueError):
        return None
    return f"{whole}{'.' if digits else ''}{digits}Z"


def _asked(
    event: Event, frame: Frame, message: Message, id_of: IdOf, generation: int, bare: bool
) -> Asked:
    options = event.options
    version, binding = _dialect(frame, message)
    return Asked(
        id_of,
        options.protocol_version or version,
        options.binding or binding,
        frame.contextId or message.contextId or None,
        event.tenant or None,
        options.endpoint,
        tuple(message.extensions or ()),
        generation,
        bare,
        options.answer_shape,
    )


def _dialect(frame: Frame, message: Message) -> tuple[Version, Binding]:
    """What the agent speaks, by how it writes. Its proto JSON before 1.0 was for REST alone."""
    assert frame.status is not None
    if message.content is not None and message.parts is None:
        return "0.3", "rest"
    state = frame.status.state
    is_0_3 = isinstance(state, str) and not _is_proto(state)
    return ("0.3", "jsonrpc") if is_0_3 else ("1.0", "jsonrpc")


def _metadata(frame: Frame, message: Message, kind: Kind, asked: Asked) -> dict[str, JsonText]:
    """What surrounds a question, its extensions' values as they came."""
    members: dict[str, JsonText] = {}
    if asked.context is not None:
        members["contextId"] = slices.text(asked.context)
    if asked.extensions:
        members["extensions"] = slices.array_of(map(slices.text, asked.extensions))
    for name, raw in (("messageMetadata", message.metadata), ("eventMetadata", frame.metadata)):
        value = given(raw)
        if value is not None:
            members[name] = json_without(value, strictly=kind == "authorization")
    return members


def _shown(message: Message, parts: list[Part], kind: Kind) -> dict[str, JsonText]:
    """The parts that are more than words; their text is the question's message."""
    raws = message.parts or message.content or ()
    kept = [bytes(raw) for raw, part in zip(raws, parts, strict=True) if part.text is None]
    strictly = kind == "authorization"
    return {"parts": slices.array_of(json_without(raw, strictly) for raw in kept)} if kept else {}


def _value(raw: msgspec.Raw) -> Any:
    value = given(raw)
    return None if value is None else json_text.value(value)
