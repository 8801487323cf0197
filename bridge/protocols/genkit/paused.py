"""A paused turn as a core input: its thread and run, its questions, and how it is continued.

Refused as a whole where no complete resume could be built, because a partial one runs the covered
tools and then fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw

from bridge.core import json_text
from bridge.core.model import Interrupted, JsonText, Order, ResumeSeen
from bridge.protocols.fields import Unreadable
from bridge.protocols.genkit.event import NAME, Event, Found, created_at
from bridge.protocols.genkit.message import Request, is_truthy, requests_of
from bridge.protocols.genkit.parts import respond_part
from bridge.protocols.genkit.questions import digest_of, key_of, questions_of
from bridge.protocols.genkit.session import Session, session_of
from bridge.protocols.interface import Reading
from bridge.protocols.slices import members_of, object_of, text

_EXACT_OUTPUTS: Final = ("go", "py")  # a pending output is one there, whatever its value


class Continuation(msgspec.Struct, frozen=True, omit_defaults=True):
    """What building the resume needs to know of the turn; kept with its run as JSON.

    `siblings` are responses for tools that ran already but would not count as settled.
    """

    init: Raw
    server: bool
    siblings: tuple[Raw, ...] = ()


def paused(found: Found, event: Event) -> Reading:
    """Raises JsonError for text that breaks a rule, Unreadable for what is not to be continued."""
    value, turn = event.strictly(), event.value
    if found.place:
        value, turn = value[found.place], members_of(turn)[found.place]
    if found.turn.snapshotId and value.get("state") is None and value.get("message") is None:
        event.seen.add("snapshot_without_state")  # as a store lists them, without its question
        return event.reading()
    session = session_of(found, event)
    requests = requests_of(value, turn, found.pointer, event.seen)
    _check_pending(requests, found, event)
    thread = session.thread(event.source)
    if thread is None:
        raise Unreadable("malformed", f"{found.pointer}/sessionId", "must be a string")
    turn_id = _turn_id(value, session, found)
    native = Continuation(
        init=_init(session, found, turn),
        server=session.management == "server",
        siblings=_siblings(requests, session),
    )
    origin = event.record.origin
    interrupted = Interrupted(
        thread=thread,
        run_id=turn_id,
        protocol=NAME,
        questions=questions_of(requests, session, turn_id, event),
        digest=digest_of(requests),
        order=Order(event.at(created_at(found))),
        origin=origin,
        native=msgspec.json.encode(native),
    )
    return event.reading(*_parent_confirmed(value, interrupted), interrupted)


def _check_pending(requests: Sequence[Request], found: Found, event: Event) -> None:
    count = sum(request.is_pending for request in requests)
    if not count:
        detail = "an interrupted turn has at least one tool request that waits"
        raise Unreadable("no_interrupts", found.pointer, detail)
    limit = event.limits.interrupts_per_run
    if count > limit:
        raise Unreadable("limit", found.pointer, f"more than {limit} interrupts")


def _turn_id(value: dict[str, Any], session: Session, found: Found) -> str:
    """The snapshot; where a client holds the state, its producer's word, else what was said so far.

    A tool of Python's that asks the same again leaves the very same state: only its producer can
    tell the new turn from the old one sent twice.
    """
    if session.management == "server":
        if not found.turn.snapshotId:
            raise Unreadable("malformed", f"{found.pointer}/snapshotId", "must be a string")
        return found.turn.snapshotId
    messages = (value.get("state") or {}).get("messages")
    if not isinstance(messages, list):
        raise Unreadable("malformed", f"{found.pointer}/state/messages", "must be an array")
    return found.wrapper.turnId or json_text.digest(messages).hex()


def _init(session: Session, found: Found, turn: JsonText) -> Raw:
    """Both ids pin the paused turn to its session; a client sends its state back unchanged."""
    if session.management == "client":
        return Raw(object_of({"state": members_of(turn)["state"]}))
    ids = {"sessionId": session.session_id, "snapshotId": found.turn.snapshotId}
    return Raw(object_of({name: text(value or "") for name, value in ids.items()}))


def _siblings(requests: Sequence[Request], session: Session) -> tuple[Raw, ...]:
    """Responses for what already ran: JavaScript takes a falsy output for none.

    The others ignore such a response, so it is also sent where nobody says which runtime it is.
    """
    asked = {key_of(one, session.runtime) for one in requests if one.is_pending}
    found = []
    for one in requests:
        is_exact = session.runtime in _EXACT_OUTPUTS
        counts = one.is_settled and (is_exact or is_truthy(one.metadata["pendingOutput"]))
        if one.is_pending or counts:
            continue
        if not one.is_settled and (one.is_resolved or is_exact):
            detail = "a tool request that neither waits nor is settled: no resume could be whole"
            raise Unreadable("unsupported", one.pointer, detail)
        if key_of(one, session.runtime) not in asked:
            output = one.texts.get("pendingOutput", b"null")
            found.append(Raw(respond_part(one.name_text, one.ref_text, output)))
    return tuple(found)


def _parent_confirmed(value: dict[str, Any], interrupted: Interrupted) -> tuple[ResumeSeen, ...]:
    """A snapshot that follows another one proves that turn resumed; it closes nothing."""
    parent = value.get("parentId")
    if not isinstance(parent, str) or parent in ("", interrupted.run_id):
        return ()
    order, origin = interrupted.order, interrupted.origin
    return (ResumeSeen(interrupted.thread, order, origin, run_id=parent),)
