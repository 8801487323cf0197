"""The pending tool requests of a paused turn, as questions.

Requests that no runtime can tell apart by name and ref are one question: one response answers
them all, and a restart would be checked against the wrong one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

from bridge.core import json_text
from bridge.core.model import Digest, JsonText, Question
from bridge.protocols.genkit.event import Event
from bridge.protocols.genkit.message import Request
from bridge.protocols.genkit.offer import Offer, offer_of
from bridge.protocols.genkit.options import Runtime
from bridge.protocols.genkit.session import Session
from bridge.protocols.slices import array_of, object_of, text

_EXACT_REFS: Final = ("js", "py")


def key_of(request: Request, runtime: Runtime | None) -> tuple[str, str | None]:
    """By what a runtime finds the request again. To Go an absent ref and an empty one are equal."""
    if runtime in _EXACT_REFS:
        return request.name, request.ref
    return request.name, request.ref or ""


def questions_of(
    requests: Sequence[Request], session: Session, turn_id: str, event: Event
) -> tuple[Question, ...]:
    """One question for each pending request, or group of them, in the order of the parts.

    Ids are stable for the part. The ref alone is not: it comes again when the call pauses again.
    What all parts share may be long, and is hashed once.
    """
    alike: dict[tuple[str, str | None], list[Request]] = {}
    for request in requests:
        alike.setdefault(key_of(request, session.runtime), []).append(request)
    shared = json_text.canonical([session.agent, session.session_id, turn_id])
    start = hashlib.sha256(shared[:-1] + b",")
    questions = []
    for group in alike.values():
        pending = [request for request in group if request.is_pending]
        if not pending:
            continue
        first, whole = pending[0], start.copy()
        whole.update(json_text.canonical([first.index, first.name, first.ref])[1:])
        tool, is_ambiguous = event.options.tool(first.name), len(group) > 1
        offer = offer_of(first, tool, session.runtime, is_ambiguous)
        interrupt_id = whole.digest()[:16].hex()
        questions.append(_question(interrupt_id, pending, offer, event.limits.schema_bytes))
    return tuple(questions)


def _question(
    interrupt_id: str, pending: Sequence[Request], offer: Offer, schema_bytes: int
) -> Question:
    """Its metadata: what the tool was called with and what it asks, several of them where they are
    alike; and what an answer may be that the approval has no field for.
    """
    first = pending[0]
    response_schema = offer.response_schema(schema_bytes)
    schemas = offer.action_schemas(response_schema)
    metadata = {
        "name": first.name_text,
        "ref": first.ref_text,
        **_asked(first),
        "interruptedBy": first.texts.get("interruptedBy"),
        "default_action": text(offer.actions[0]),
        "action_schemas": object_of(dict(schemas)) if schemas else None,
        "revisable": b"true" if offer.is_revisable else None,
        "group": array_of(object_of(_asked(one)) for one in pending) if pending[1:] else None,
    }
    return Question(
        interrupt_id=interrupt_id,
        reason="tool_interrupt" if offer.hold == "none" else "tool_approval",
        message=_message(first.metadata["interrupt"]),
        tool_call_id=first.ref or None,
        response_schema=response_schema,
        metadata=object_of(metadata),
        actions=offer.actions,
        flags=offer.flags,
        native=offer.kept(),
        revisable=offer.is_revisable,
        action_schemas=schemas,
    )


def _message(interrupt: Any) -> str | None:
    """What the interrupt says to people, where it does so under a usual name."""
    if isinstance(interrupt, str):
        return interrupt
    if not isinstance(interrupt, dict):
        return None
    texts = (interrupt.get(name) for name in ("message", "reason", "question"))
    return next((found for found in texts if isinstance(found, str)), None)


def _asked(request: Request) -> dict[str, JsonText | None]:
    return {
        "index": str(request.index).encode(),
        "input": request.input_text,
        "interrupt": request.texts["interrupt"],
    }


def digest_of(requests: Sequence[Request]) -> Digest:
    """Of what was asked: equal for the output of a turn and its snapshot."""
    return json_text.digest(
        [
            [one.index, one.name, one.ref, one.input, one.metadata["interrupt"]]
            for one in requests
            if one.is_pending
        ]
    )
