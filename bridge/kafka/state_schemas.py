"""Avro schemas of the state topic's values.

Private: they may change with STATE_FORMAT, while the published records may not. The sets of
symbols are written out, so that a new word in the model cannot change a format unnoticed.
"""

from __future__ import annotations

from typing import Any, Final

from fastavro import parse_schema

STATE_FORMAT: Final = 1
"""Raised by one with every change to a schema in this module."""

Schema = dict[str, Any]


def _record(name: str, **fields: object) -> Schema:
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": field, "type": kind} for field, kind in fields.items()],
    }


def _optional(kind: object) -> list[object]:
    return ["null", kind]


def _list(kind: object) -> Schema:
    return {"type": "array", "items": kind}


def _enum(name: str, *symbols: str) -> Schema:
    return {"type": "enum", "name": name, "symbols": list(symbols)}


def _fixed(name: str, size: int) -> Schema:
    return {"type": "fixed", "name": name, "size": size}


RUN_PEEK_SIZE: Final = 21
PARKED_PEEK_SIZE: Final = 12

_ACTION = _enum("Action", "restart", "respond")
_ANSWER_STATUS = _enum("AnswerStatus", "resolved", "cancelled")
_STATUS = _enum("Status", "pending", "answered", "cancelled", "expired", "superseded", "withdrawn")
_OUTCOME = _enum("RunOutcome", "resumed", "superseded", "withdrawn", "unresumable")
_CLOSED_REASON = _enum(
    "ClosedReason",
    "answered",
    "cancelled",
    "expired",
    "lapsed",
    "superseded",
    "moved_on",
    "resumed_elsewhere",
    "run_failed",
    "task_ended",
    "sibling_abandoned",
    "operator",
    "command_too_large",
    "no_refusal_configured",
)

_ACCEPTED = _record(
    "AcceptedAnswer",
    status=_ANSWER_STATUS,
    digest="bytes",
    answer_id="string",
    answered_at="long",
    answered_by=_optional("string"),
    payload=_optional("bytes"),
    metadata=_optional("bytes"),
    action=_optional(_ACTION),
    revised_input=_optional("bytes"),
)

# What few questions or runs have stands apart, so that it costs a byte where it is absent and no
# time: the writer takes about a third of a microsecond for every field, null or not.
_RARE = _record(
    "Rare",
    kind=_enum("Kind", "input", "authorization"),
    metadata=_optional("bytes"),
    expires_at_raw=_optional("string"),
    actions=_list("string"),
    authorize_at=_optional("string"),
    flags=_list("string"),
    native=_optional("bytes"),
)

# Absent as long as an item is as it was first published.
_PROGRESS = _record(
    "Progress",
    status=_STATUS,
    revision="long",
    flags=_list("string"),
    answer=_optional(_ACCEPTED),
    closed_at=_optional("long"),
    closed_reason=_optional(_CLOSED_REASON),
)

_ITEM = _record(
    "Item",
    interrupt_id="string",
    reason=_optional("string"),
    message=_optional("string"),
    tool_call_id=_optional("string"),
    response_schema=_optional("bytes"),
    expires_at=_optional("long"),
    rare=_optional(_RARE),
    progress=_optional(_PROGRESS),
)

_POLICY = _record(
    "Policy",
    allowed_answerers=_list("string"),
    withdraw_on_failure="boolean",
    closed_retention="long",
)

# Absent where `at` is the origin's timestamp, there is no generation, and so on.
_EXTRA = _record(
    "Extra",
    at="long",
    generation="long",
    policy=_optional(_POLICY),
    native=_optional("bytes"),
)

_END = _record(
    "End",
    outcome=_optional(_OUTCOME),
    closed_at=_optional("long"),
    confirmed="boolean",
)

# `peek` and `approval_ids` stand first at a fixed offset: a restore slices them out undecoded.
RUN: Final = parse_schema(
    _record(
        "Run",
        peek=_fixed("RunPeek", RUN_PEEK_SIZE),
        approval_ids="bytes",
        source="string",
        scope="string",
        thread_id="string",
        run_id="string",
        protocol="string",
        digest="bytes",
        topic="string",
        partition="long",
        offset="long",
        timestamp="long",
        published_at="long",
        items=_list(_ITEM),
        extra=_optional(_EXTRA),
        end=_optional(_END),
    )
)

_THREAD = _record("Thread", source="string", scope="string", thread_id="string")

_PARKED_ANSWER = _record(
    "ParkedAnswer",
    until="long",
    topic="string",
    partition="long",
    offset="long",
    timestamp="long",
    status=_ANSWER_STATUS,
    approval_id=_optional("string"),
    thread=_optional(_THREAD),
    run_id=_optional("string"),
    interrupt_id=_optional("string"),
    payload=_optional("bytes"),
    metadata=_optional("bytes"),
    answer_id=_optional("string"),
    answered_by=_optional("string"),
    answered_at=_optional("long"),
    comment=_optional("string"),
    action=_optional(_ACTION),
    revised_input=_optional("bytes"),
)

PARKED: Final = parse_schema(
    _record(
        "Parked",
        peek=_fixed("ParkedPeek", PARKED_PEEK_SIZE),
        approval_id="string",
        answers=_list(_PARKED_ANSWER),
    )
)

CARRY: Final = parse_schema(
    _record("Carry", source="string", scope="string", thread_id="string", body="bytes")
)

POSITION: Final = parse_schema(_record("Position", offset="long"))

META: Final = parse_schema(
    _record(
        "Meta",
        slots="long",
        format="long",
        partitions_seen={"type": "map", "values": "long"},
    )
)
