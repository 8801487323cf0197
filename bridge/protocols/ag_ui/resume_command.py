"""The answers to questions of the older kind, as `forwardedProps.command` has them for LangGraph.

One answer is its payload; several are a map by interrupt id, which LangGraph asks for. Where ids
are not the agent's own there is nothing to know them by but their order.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress

from bridge.core.announcing import SYNTHETIC
from bridge.core.model import Entry, JsonText
from bridge.protocols.ag_ui.legacy import command_of
from bridge.protocols.slices import array_of, object_of, text


def resume_command(entries: Sequence[Entry]) -> JsonText:
    """The command's object, for at least one entry."""
    if answers_by_order(entries):
        resume = array_of(map(_value, entries))
    elif len(entries) > 1:
        resume = object_of({entry.question.interrupt_id: _value(entry) for entry in entries})
    else:
        resume, command = _value(entries[0]), command_of(entries[0].question)
        if command is not None and command.parsed and resume.startswith(b'"'):
            with suppress(ValueError):  # its adapter reads a text as JSON where it is some
                json.loads(json.loads(resume))
                resume = text(resume.decode())
    return object_of({"resume": resume})


def answers_by_order(entries: Sequence[Entry]) -> bool:
    return len(entries) > 1 and any(SYNTHETIC in entry.question.flags for entry in entries)


def _value(entry: Entry) -> JsonText:
    """What was answered; else the refusal, without which nothing unanswered comes here."""
    if entry.status == "resolved":
        return entry.payload or b"null"
    command = command_of(entry.question)
    return b"null" if command is None else bytes(command.refusal) or b"null"
