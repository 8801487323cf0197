"""Whose turn it was: agent, session, runtime, and who keeps the state.

What a record's wrapper says goes before the source's settings, and those before what the shape
of the turn tells.
"""

from __future__ import annotations

from msgspec import Struct

from bridge.core.model import ThreadKey
from bridge.protocols.fields import Unreadable
from bridge.protocols.genkit.event import NAME, Event, Found, Turn
from bridge.protocols.genkit.options import MANAGEMENTS, RUNTIMES, Management, Runtime


class Session(Struct, frozen=True, gc=False):
    """`session_id` is None where neither the turn nor its record names one."""

    agent: str
    session_id: str | None
    runtime: Runtime | None
    management: Management

    def thread(self, source: str) -> ThreadKey | None:
        return ThreadKey(source, self.agent, self.session_id) if self.session_id else None


def session_of(found: Found, event: Event) -> Session:
    """Raises Unreadable for another protocol, or a state management nobody knows."""
    wrapper, options = found.wrapper, event.options
    if wrapper.protocol is not None and wrapper.protocol != NAME:
        raise Unreadable("malformed", "/protocol", f"must be {NAME}")
    management = _management(found, event)
    return Session(
        wrapper.agent or options.agent,
        _session_id(found, event, management),
        options.runtime if wrapper.runtime is None else _runtime(wrapper.runtime, event),
        management,
    )


def _management(found: Found, event: Event) -> Management:
    """Only a server's store gives snapshots; a client gets its state back instead."""
    said = found.wrapper.stateManagement
    if said is not None:
        if said not in MANAGEMENTS:
            raise Unreadable("malformed", "/stateManagement", "must be server or client")
        return MANAGEMENTS[said]
    return event.options.state_management or ("server" if found.turn.snapshotId else "client")


def _session_id(found: Found, event: Event, management: Management) -> str | None:
    """The record's key is the last resort, and only where a client may have no session id."""
    own = _own_id(found.turn)
    if management == "server":
        return own or found.wrapper.sessionId
    return found.wrapper.sessionId or own or event.key_text()


def _own_id(turn: Turn) -> str | None:
    return turn.sessionId or (turn.state.sessionId if turn.state else None)


def _runtime(name: str, event: Event) -> Runtime | None:
    if name not in RUNTIMES:
        event.seen.add("unknown_runtime")
    return RUNTIMES.get(name)
