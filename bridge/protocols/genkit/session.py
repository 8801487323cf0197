"""Whose turn it was: agent, session, runtime, and who holds the state.

What a record's wrapper says goes before the source's settings, and those before what the shape
of the turn tells.
"""

from __future__ import annotations

from msgspec import Struct

from bridge.core.model import ThreadKey
from bridge.protocols.fields import Unreadable
from bridge.protocols.genkit.event import NAME, Event, Found
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
    turn, wrapper, options = found.turn, found.wrapper, event.options
    if wrapper.protocol is not None and wrapper.protocol != NAME:
        raise Unreadable("malformed", "/protocol", f"must be {NAME}")
    said = wrapper.stateManagement
    if said is not None and said not in MANAGEMENTS:
        raise Unreadable("malformed", "/stateManagement", "must be server or client")
    # Only a server's store gives snapshots; a client gets its state back instead.
    shape: Management = "server" if turn.snapshotId else "client"
    management = MANAGEMENTS[said] if said is not None else options.state_management or shape
    session_id = turn.sessionId or (turn.state.sessionId if turn.state else None)
    if management == "server":
        session_id = session_id or wrapper.sessionId
    else:  # whose session may have no id: the record's key is the last resort
        session_id = wrapper.sessionId or session_id or event.key_text()
    runtime = options.runtime
    if wrapper.runtime is not None:
        runtime = RUNTIMES.get(wrapper.runtime)
        if runtime is None:
            event.seen.add("unknown_runtime")
    return Session(wrapper.agent or options.agent, session_id, runtime, management)
