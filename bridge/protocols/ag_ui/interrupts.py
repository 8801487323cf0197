"""The interrupts of one AG-UI run, as questions: every one of them is readable, or none is used.

Free JSON inside them is kept as the slice it arrived in; parsed values only judge and compare.
"""

from __future__ import annotations

from typing import Any

import msgspec

from bridge.core import json_text
from bridge.core.model import JsonText, Limits, Question
from bridge.protocols.fields import Fields, Unreadable

_OPTIONAL_TEXTS = ("message", "toolCallId", "expiresAt", "subagentRunId")
_OPTIONAL_OBJECTS = ("responseSchema", "metadata")


class _Slices(msgspec.Struct):
    """Where the free JSON of one interrupt stands in the event."""

    responseSchema: msgspec.Raw = msgspec.Raw()
    response_schema: msgspec.Raw = msgspec.Raw()
    metadata: msgspec.Raw = msgspec.Raw()


class _OutcomeSlices(msgspec.Struct):
    interrupts: list[_Slices]


class _EventSlices(msgspec.Struct):
    outcome: _OutcomeSlices


_SLICES = msgspec.json.Decoder(_EventSlices)


def read_interrupts(
    event: bytes, outcome: Fields, limits: Limits, seen: set[str]
) -> tuple[tuple[Question, ...], bytes]:
    """(questions in order, digest of what was asked) of an interrupt outcome.

    The digest is over what the protocol knows of each interrupt, so that the same question written
    with nulls or in snake_case is the same. Raises Unreadable with `no_interrupts`, `limit`,
    `malformed` or `duplicate_interrupt_id`.
    """
    pointer, values = outcome.array("interrupts")
    if not values:
        raise Unreadable("no_interrupts", pointer, "an interrupt outcome asks at least one thing")
    if len(values) > limits.interrupts_per_run:
        raise Unreadable("limit", pointer, f"more than {limits.interrupts_per_run} interrupts")
    asked: dict[str, dict[str, Any]] = {}
    questions = []
    pointers = [f"{pointer}/{index}" for index in range(len(values))]
    known = [_known_members(Fields(v, p, seen)) for v, p in zip(values, pointers, strict=True)]
    for at, members, slices in zip(
        pointers, known, _SLICES.decode(event).outcome.interrupts, strict=True
    ):
        first = asked.setdefault(members["id"], members)
        if first is members:
            questions.append(_question(members, slices))
        elif json_text.canonical(first) != json_text.canonical(members):
            raise Unreadable("duplicate_interrupt_id", f"{at}/id", "two questions with one id")
        else:
            seen.add("repeated_interrupt")
    return tuple(questions), json_text.digest(list(asked.values()))


def _known_members(interrupt: Fields) -> dict[str, Any]:
    """The members AG-UI defines, under their own names, without nulls."""
    members: dict[str, Any] = {
        "id": interrupt.required_text("id"),
        "reason": interrupt.required_text("reason"),
    }
    for name in _OPTIONAL_TEXTS:
        members[name] = interrupt.text(name)
    for name in _OPTIONAL_OBJECTS:
        members[name] = interrupt.object(name)
    return {name: value for name, value in members.items() if value is not None}


def _question(members: dict[str, Any], slices: _Slices) -> Question:
    return Question(
        interrupt_id=members["id"],
        reason=members["reason"],
        message=members.get("message"),
        tool_call_id=members.get("toolCallId"),
        response_schema=_slice(
            "responseSchema" in members, slices.responseSchema or slices.response_schema
        ),
        metadata=_slice("metadata" in members, slices.metadata),
        expires_at_raw=members.get("expiresAt"),
    )


def _slice(present: bool, raw: msgspec.Raw) -> JsonText | None:
    return bytes(raw) if present else None
