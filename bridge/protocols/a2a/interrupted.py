"""A status that asks, as a core input: its question's id, what is asked, and where it stands.

One status is one run of questions. The task goes on only when all of them are settled.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from bridge.core import json_text
from bridge.core.model import (
    OF_THREAD,
    Digest,
    Drop,
    Input,
    Interrupted,
    JsonText,
    Kind,
    Order,
    Question,
    ResumeSeen,
)
from bridge.protocols import slices
from bridge.protocols.a2a import dialects, kagent
from bridge.protocols.a2a import items as found
from bridge.protocols.a2a.asked import Asked, IdOf, encode, questions_of
from bridge.protocols.a2a.authorization import authorization
from bridge.protocols.a2a.credentials import json_without, text_without
from bridge.protocols.a2a.event import NAME, STATES, Artifact, Event, Frame, Status, Told, is_proto
from bridge.protocols.a2a.identity import generation_of, identity_of, instant_of
from bridge.protocols.a2a.items import Item, Message, Part
from bridge.protocols.a2a.options import Binding, Version
from bridge.protocols.fields import Unreadable


def interrupted(event: Event, told: Told, task_id: str, kind: Kind) -> tuple[Input, ...]:
    """The question of an interrupted status; nothing where the source's filter takes it out.

    Raises Unreadable where it can't be read as one.
    """
    frame = told.frame
    assert frame.status is not None
    message = _message(frame.status, told.pointer)
    parts = found.parts_of(message)
    items, artifacts = dialects.items_of(message, parts), slices.given(frame.artifacts)
    if not items and artifacts is not None:
        items = found.of_artifacts(found.read_as(list[Artifact], artifacts) or ())
    found.check_count(items, event.limits)
    if dialects.asks_for_credential(message, items):
        kind = "authorization"  # whatever its state says
    wanted = event.options.input_required_filter
    is_filtered = wanted == "without_items" or (wanted == "without_message" and not parts)
    if kind == "input" and not items and is_filtered:
        event.seen.add("filtered_input_required")
        return ()
    question = _interrupted(event, told, task_id, kind, message, parts, items)
    # Kept items are for this question or for none.
    used_up = Drop(question.thread, OF_THREAD, question.origin)
    if question.order.generation or frame.status.timestamp:
        # That the task asks again shows that its last answer arrived; it closes nothing by itself.
        # Work of its instant, because the answered question may be told of once more.
        order = replace(question.order, rank="work")
        return ResumeSeen(question.thread, order, question.origin), question, used_up
    return question, used_up


def _message(status: Status, pointer: str) -> Message:
    raw = slices.given(status.message)
    if raw is None:
        return Message()
    message = found.read_as(Message, raw)
    if message is None:
        raise Unreadable("malformed", f"{pointer}/status/message", "cannot be read as a message")
    message.messageId = message.messageId or message.message_id
    message.contextId = message.contextId or message.context_id
    return message


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
    question_id, id_of = identity_of(frame.status, message, generation, origin)
    asked = _asked(event, frame, message, id_of, generation, not items)
    metadata = _metadata(frame, message, parts, kind, asked, items)
    words = found.text_of(parts)
    asking: tuple[Question, ...]
    if kind == "authorization":
        asking = (authorization(question_id, message, words, items, metadata),)
    else:
        plain, room = items or (_plain(told),), event.limits.thread_state_bytes
        asking = questions_of(plain, asked, question_id, words, metadata, room)
        if not items and dialects.seems_unknown(message, parts):
            event.seen.add(dialects.UNKNOWN)
            asking = tuple(replace(one, flags=(dialects.UNKNOWN,)) for one in asking)
    return Interrupted(
        thread=event.thread(task_id),
        run_id=question_id,
        protocol=NAME,
        questions=asking,
        digest=_digest(kind, question_id, message, parts),
        order=Order(instant_of(frame.status, origin), generation),
        origin=origin,
        native=encode(asked),
        repeats=True,
    )


def _digest(kind: Kind, question_id: str, message: Message, parts: list[Part]) -> Digest:
    """What makes two statuses the same question: the words and the data of their message.

    Not how a dialect writes them, nor items from elsewhere: a snapshot of the task may lack those.
    """
    words, data = found.text_of(parts), [slices.value_of(part.data) for part in parts]
    content = [words, data, slices.value_of(message.metadata)] if message.messageId else question_id
    return json_text.digest([kind, content])


def _plain(told: Told) -> Item:
    """One question without items. LangGraph's own mix of dialects says how it wants its answer."""
    status = told.frame.status
    is_hybrid = told.frame.kind is not None and status is not None and is_proto(status.state)
    return Item("langgraph", schema=msgspec.Raw(found.NOT_NULL)) if is_hybrid else Item("plain")


def _asked(
    event: Event, frame: Frame, message: Message, id_of: IdOf, generation: int, bare: bool
) -> Asked:
    """The extensions are those the message lists, and those under whose address metadata stands.

    A request has to ask for them again: without its own, ADK hands the answer to an executor that
    does not know the question, and the task fails.
    """
    options = event.options
    version, binding = _dialect(frame, message)
    names = [n for raw in (frame.metadata, message.metadata) for n in found.extensions_under(raw)]
    used = [name for name in names if text_without(name) == name]
    return Asked(
        id_of=id_of,
        version=options.protocol_version or version,
        binding=options.binding or binding,
        context=frame.contextId or message.contextId or None,
        tenant=event.tenant or None,
        endpoint=options.endpoint,
        extensions=tuple(dict.fromkeys((*(message.extensions or ()), *used))),
        generation=generation,
        bare=bare,
        shape=options.answer_shape,
    )


def _dialect(frame: Frame, message: Message) -> tuple[Version, Binding]:
    """What the agent speaks, by how it writes. Its proto JSON before 1.0 was for REST alone."""
    assert frame.status is not None
    if message.content is not None and message.parts is None:
        return "0.3", "rest"
    state = frame.status.state
    is_0_3 = isinstance(state, str) and not is_proto(state)
    if state not in STATES and frame.kind is None:
        is_0_3 = False  # a spelling of nobody's, around which everything is 1.0
    return ("0.3", "jsonrpc") if is_0_3 else ("1.0", "jsonrpc")


def _metadata(
    frame: Frame,
    message: Message,
    parts: list[Part],
    kind: Kind,
    asked: Asked,
    items: tuple[Item, ...],
) -> dict[str, JsonText]:
    """What surrounds a question, its extensions' values as they came. Where no item shows them, the
    parts that are more than words, too: the text of the others is the question's message.
    """
    strictly = kind == "authorization"
    members: dict[str, JsonText] = {}
    if asked.context is not None:
        members["contextId"] = slices.text(asked.context)
    if message.extensions:
        members["extensions"] = slices.array_of(map(slices.text, message.extensions))
    for name, raw in (("messageMetadata", message.metadata), ("eventMetadata", frame.metadata)):
        value = slices.given(raw)
        if value is not None and items and items[0].shape in kagent.SHAPES:
            value = kagent.surroundings(value)
        if value is not None:
            members[name] = json_without(value, strictly)
    raws = zip(message.parts or message.content or (), parts, strict=True)
    more = [bytes(raw) for raw, part in raws if part.text is None]
    if more and (strictly or not items):
        members["parts"] = slices.array_of(json_without(raw, strictly) for raw in more)
    return members
