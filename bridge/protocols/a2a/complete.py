"""A status that asks without saying what: the same question again, or the items that came before.

What its thread holds decides: the open run, and the items kept from an artifact.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from bridge.core.model import Interrupted, JsonText, Run
from bridge.protocols.a2a.asked import NO_WORDS, Asked, asked_of, item_of, questions_of
from bridge.protocols.a2a.carry import Kept, kept_in
from bridge.protocols.fields import Unreadable
from bridge.protocols.slices import members_of

_SAME_STATUS_MILLIS: Final = 1_000  # far above what one status was seen to differ by, below a turn


def complete(event: Interrupted, run: Run | None, carry: JsonText | None) -> Interrupted:
    """The event with items that its record left out, or as the question `run` come again.

    `run` is the thread's open one, else its newest.
    """
    asked = asked_of(event.native)
    if not asked.bare or (run is not None and run.run_id == event.run_id):
        return event
    kind = event.questions[0].kind
    if run is not None and run.items[0].question.kind != kind:
        run = None
    kept = kept_in(carry) if kind == "input" else None
    if kept is not None:
        ids, is_open = {item.id for item in kept.items}, run is not None and run.is_open
        # Items that came before the open question, or that it asks, are not this status's.
        if (
            run is None
            or not is_open
            or (kept.at >= run.origin.timestamp and ids != set(_ids(run)))
        ):
            return _with_items(event, asked, kept)
    if run is None or not (run.is_open or _is_of_its_instant(event, asked, run)):
        return event
    if _repeats(event, asked, run):
        return replace(event, run_id=run.run_id, digest=run.digest)
    is_later = asked.id_of == "message" and event.order.at >= run.at
    if is_later and item_of(run.items[0].question).shape == "adk":
        # Its messages have no other items than function calls.
        return _asked_anew(event, run)
    return event


def _repeats(event: Interrupted, asked: Asked, run: Run) -> bool:
    """Whether a status without items is the one that is open already.

    A snapshot of a task with items has them no more, and its timestamp may be another one: that of
    LangGraph's GetTask lies 0.9 ms before that of its SendMessage. A clearly older status is an
    older question.
    """
    if asked.id_of == "message":
        return False
    if asked.id_of == "record" or event.order.at == run.at:
        return True
    has_items = _ids(run) != [run.run_id]
    return has_items and event.order.at > run.at - _SAME_STATUS_MILLIS


def _is_of_its_instant(event: Interrupted, asked: Asked, run: Run) -> bool:
    """Whether a status without a message is the one of a closed run.

    The SDK for Python puts the answered message into the history at once, and changes the state
    once its agent says something: until then a snapshot shows the state and instant of the answered
    question, without words. Whole seconds tell too little: a new question may come in the same one.
    """
    is_exact = asked.id_of == "timestamp" and "." in event.run_id
    return is_exact and event.order.at == run.at


def _ids(run: Run) -> list[str]:
    return [item.question.interrupt_id for item in run.items]


def _with_items(event: Interrupted, asked: Asked, kept: Kept) -> Interrupted:
    bare = event.questions[0]
    words = bare.message if asked.id_of == "message" else None
    metadata = members_of(bare.metadata or b"")
    try:
        asking = questions_of(kept.items, asked, event.run_id, words, metadata)
    except Unreadable:
        return event  # items that contradict each other are none: the status asks by itself
    return replace(event, questions=asking)


def _asked_anew(event: Interrupted, run: Run) -> Interrupted:
    """ADK says in a new message that the answer was none of its function's: the items still wait.

    The new text goes before what each of them asks, under the new message's id.
    """
    none = NO_WORDS["input"]
    words, asking = event.questions[0].message or none, []
    for question in (item.question for item in run.items):
        said = question.message or none
        is_new = words != none and not said.startswith(words)
        both = words if said == none else f"{words}\n{said}"
        asking.append(replace(question, message=both if is_new else said))
    return replace(event, questions=tuple(asking))
