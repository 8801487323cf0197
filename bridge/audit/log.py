"""What a checker is given: plain records of every topic, and what it says: violations.

A log is a consistent cut: read when no worker is in mid-transaction (all settled, stopped or
killed). Inputs that nobody has worked on yet are no fault, outputs that do not fit each other are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Role = Literal[
    "input",
    "answers",
    "operations",
    "reroute",
    "approvals",
    "resume-commands",
    "answer-verdicts",
    "dead-letters",
    "state",
]
Place = tuple[str, int, int]  # topic, partition, offset


class LogRecord(NamedTuple):
    """One committed record. `timestamp` in milliseconds since the epoch."""

    role: Role
    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()

    @property
    def place(self) -> Place:
        return (self.topic, self.partition, self.offset)

    def header(self, name: str) -> bytes | None:
        """The last header of that name: the bridge appends its own after the original ones."""
        found = [value for key, value in self.headers if key == name]
        return found[-1] if found else None


class Violation(NamedTuple):
    """One broken promise: I1 to I10, what is wrong, and the ids or places concerned."""

    invariant: str
    message: str
    ids: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.invariant} {self.message} [{', '.join(self.ids)}]"


@dataclass(frozen=True, slots=True)
class Source:
    """An input topic's source: its name, its protocol and its `options` as configured.

    The protocol is one of ag-ui, a2a and genkit.
    """

    name: str
    protocol: str = "ag-ui"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Setup:
    """How the bridge under test was configured, as far as its outputs depend on it."""

    sources: Mapping[str, Source]  # by input topic
    slots: int | None = None  # unknown: home slots and hops are not checked
    json_depth: int = 64
    record_bytes: int = 1_000_000
    final: bool = False  # every input was worked on and every parked answer is settled
    compacted: bool = False  # the cleaner may have removed revisions and forgotten runs
    positions: Mapping[tuple[str, int], int] | None = None  # next offset, by topic and partition
    expiry_grace_ms: int = 60_000  # timers may be held this long after a takeover
    clock_slack_ms: int = (
        2_000  # producers stamp with their own clock, the bridge with the broker's
    )


def text_of(place: Place) -> str:
    """`topic/partition/offset`, the form in which the bridge names an unnamed answer."""
    return f"{place[0]}/{place[1]}/{place[2]}"
