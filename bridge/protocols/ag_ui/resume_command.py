"""The answers to questions of the older kind, as `forwardedProps.command` has them for LangGraph.

One answer is its payload; several are a map by interrupt id, which LangGraph asks for. Where ids
are not the agent's own there is nothing to tell them by but their order.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from bridge.core.announcing import SYNTHETIC
from bridge.core.coverage import entry_status
from bridge.core.model import Item, JsonText
from bridge.protocols.ag_ui.legacy import command_of
from bridge.protocols.slices import array_of, object_of, text


def resume_command(items: Sequence[Item]) -> JsonText:
    """The command's object, for at least one item."""
    if answers_by_order(items):
        resume = array_of(map(_value, items))
    elif len(items) > 1:
        resume = object_of({item.question.interrupt_id: _value(item) for item in items})
    else:
        resume = _alone(items[0])
    return object_of({"resume": resume})


def answers_by_order(items: Sequence[Item]) -> bool:
    return len(items) > 1 and any(SYNTHETIC in item.question.flags for item in items)


def _value(item: Item) -> JsonText:
    """What was answered; else the refusal, without which nothing unanswered comes here."""
    if entry_status(item) == "resolved" and item.answer is not None:
        return item.answer.payload or b"null"
    command = command_of(item.question)
    return b"null" if command is None else bytes(command.refusal) or b"null"


def _alone(item: Item) -> JsonText:
    """The value as the agent comes to it: its adapter reads a text as JSON where it is some."""
    value, command = _value(item), command_of(item.question)
    if command is None or not command.parsed or not value.startswith(b'"'):
        return value
    try:
        json.loads(json.loads(value))
    except ValueError:
        return value
    return text(value.decode())
