"""The context of an AG-UI run: what its `RunAgentInput` said, and what changed since.

A JSON object of slices. Messages that the run began with stand under their own name, since what
the run itself said is not among them.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw

from bridge.core.model import JsonText
from bridge.protocols.fields import Unreadable
from bridge.protocols.slices import given, object_of

NOTHING: Final[JsonText] = b"{}"
"""Of a run that has begun and told nothing else."""

MESSAGES_UNKNOWN: Final[JsonText] = b'{"messages":null,"startMessages":null}'
STATE_UNKNOWN: Final[JsonText] = b'{"state":null,"stateOmitted":true}'


class Context(msgspec.Struct):
    """A run's context as it is kept. An empty slice is a member that nobody told."""

    messages: Raw = Raw()
    startMessages: Raw = Raw()
    state: Raw = Raw()
    tools: Raw = Raw()
    context: Raw = Raw()
    forwardedProps: Raw = Raw()
    stateOmitted: bool = False


read_context = msgspec.json.Decoder(Context).decode


class _Input(msgspec.Struct):
    """The members of a `RunAgentInput` that a resume repeats."""

    threadId: Raw = Raw()
    thread_id: Raw = Raw()
    messages: Raw = Raw()
    state: Raw = Raw()
    tools: Raw = Raw()
    context: Raw = Raw()
    forwardedProps: Raw = Raw()
    forwarded_props: Raw = Raw()


_read_input = msgspec.json.Decoder(_Input).decode


def of_input(
    run_input: JsonText | None, thread_id: str, seen: set[str], at_start: bool
) -> JsonText:
    """The context that an input tells; nothing where it is none, or names another thread."""
    if run_input is None:
        return NOTHING
    if not run_input.startswith(b"{"):
        seen.add("input_member")
        return NOTHING
    told = _read_input(run_input)
    named = given(told.threadId) or given(told.thread_id)
    if named is not None and msgspec.json.decode(named) != thread_id:
        seen.add("foreign_input")
        return NOTHING
    return object_of(
        {
            "startMessages" if at_start else "messages": _array(told.messages, seen),
            "state": given(told.state),
            "tools": _array(told.tools, seen),
            "context": _array(told.context, seen),
            "forwardedProps": given(told.forwardedProps) or given(told.forwarded_props),
        }
    )


def of_messages(messages: Raw) -> JsonText:
    """How a snapshot of the messages changes a context. Raises Unreadable where it is no array."""
    if not bytes(messages).startswith(b"["):
        raise Unreadable("malformed", "/messages", "must be an array")
    return object_of({"messages": bytes(messages), "startMessages": b"null"})


def of_state(state: Raw) -> JsonText:
    """How a snapshot of the state changes a context; a state of null is none."""
    return object_of({"state": bytes(state) or b"null", "stateOmitted": b"null"})


def _array(raw: Raw, seen: set[str]) -> JsonText | None:
    value = given(raw)
    if value is None or value.startswith(b"["):
        return value
    seen.add("input_member")
    return None
