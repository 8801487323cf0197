"""The interrupts of one AG-UI run, as questions: every one of them is readable, or none is used.

Free JSON inside them stays the slice it arrived in; parsed values only judge and compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from bridge.core import json_text
from bridge.core.model import (
    Digest,
    JsonText,
    Limits,
    Question,
)
from bridge.protocols.fields import Fields, Unreadable

_OPTIONAL_TEXTS = ("message", "toolCallId", "expiresAt", "subagentRunId")
_OPTIONAL_OBJECTS = ("responseSchema", "metadata")


class Interrupt(msgspec.Struct, forbid_unknown_fields=True):
    """An interrupt exactly as the 1.0 schema has it: no nulls, nothing unknown."""

    id: str
    reason: str
    message: str | UnsetType = UNSET
    toolCallId: str | UnsetType = UNSET
    responseSchema: Raw | UnsetType = UNSET
    expiresAt: str | UnsetType = UNSET
    metadata: Raw | UnsetType = UNSET
    subagentRunId: str | UnsetType = UNSET

    def is_plain(self) -> bool:
        """Whether its free JSON is of objects; everything else was held to its type already."""
        return _is_object(self.responseSchema) and _is_object(self.metadata)


def questions_of(interrupts: Sequence[Interrupt]) -> tuple[Question, ...]:
    return tuple(
        [
            Question(
                interrupt_id=interrupt.id,
                reason=interrupt.reason,
                message=_given(interrupt.message),
                tool_call_id=_given(interrupt.toolCallId),
                response_schema=_text(interrupt.responseSchema),
                metadata=_text(interrupt.metadata),
                expires_at_raw=_given(interrupt.expiresAt),
                subagent_run_id=_given(interrupt.subagentRunId),
            )
            for interrupt in interrupts
        ]
    )


class _Slices(msgspec.Struct):
    """Where the free JSON of one interrupt stands in an event, under either of its names."""

    responseSchema: Raw | UnsetType = UNSET
    response_schema: Raw | UnsetType = UNSET
    metadata: Raw | UnsetType = UNSET


class _OutcomeSlices(msgspec.Struct):
    interrupts: list[_Slices]


class _EventSlices(msgspec.Struct):
    outcome: _OutcomeSlices


_SLICES = msgspec.json.Decoder(_EventSlices)


def read_leniently(
    event: bytes, outcome: Fields, limits: Limits, seen: set[str]
) -> tuple[tuple[Question, ...], Digest]:
    """(questions in order, digest of what was asked) of an interrupt outcome.

    The digest is over what the protocol knows of each interrupt, so that the same question written
    with nulls or in snake_case is the same. Raises Unreadable with `no_interrupts`, `limit`,
    `malformed` or `duplicate_interrupt_id`.
    """
    pointer, values = outcome.array("interrupts")
    if not values:
        raise Unreadable("no_interrupts", pointer, "an interrupt outcome asks at least one thing")
    check_count(len(values), pointer, limits)
    pointers = [f"{pointer}/{index}" for index in range(len(values))]
    known = [_known_members(Fields(v, at, seen)) for v, at in zip(values, pointers, strict=True)]
    asked: dict[str, dict[str, Any]] = {}
    interrupts = []
    found = _SLICES.decode(event).outcome.interrupts
    for at, members, slices in zip(pointers, known, found, strict=True):
        first = asked.setdefault(members["id"], members)
        if first is members:
            free: dict[str, Raw | UnsetType] = {}  # its objects, as slices again
            if "responseSchema" in members:
                free["responseSchema"] = slices.responseSchema or slices.response_schema
            if "metadata" in members:
                free["metadata"] = slices.metadata
            interrupts.append(Interrupt(**{**members, **free}))
        elif json_text.canonical(first) != json_text.canonical(members):
            raise Unreadable("duplicate_interrupt_id", f"{at}/id", "two questions with one id")
        else:
            seen.add("repeated_interrupt")
    return questions_of(interrupts), json_text.digest(list(asked.values()))


def check_count(interrupts: int, pointer: str, limits: Limits) -> None:
    if interrupts > limits.interrupts_per_run:
        raise Unreadable("limit", pointer, f"more than {limits.interrupts_per_run} interrupts")


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


def _given(text: str | UnsetType) -> str | None:
    return None if text is UNSET else text


def _text(raw: Raw | UnsetType) -> JsonText | None:
    return None if raw is UNSET else bytes(raw)


def _is_object(raw: Raw | UnsetType) -> bool:
    return raw is UNSET or bytes(raw).startswith(b"{")
