"""What a checker is given: plain records of every topic, and what it says: violations.

A log is a consistent cut where it was read when no worker was in mid-transaction (all settled,
stopped or killed); else what is young is in flight, and not judged. Inputs that nobody has worked
on yet are no fault, outputs that do not fit each other are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, get_args

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
JUDGED: Final[tuple[Role, ...]] = tuple(
    role for role in get_args(Role) if role not in ("input", "state")
)
"""The bridge's own topics that the rules read; the state is its own affair."""

Place = tuple[str, int, int]  # topic, partition, offset
Positions = Mapping[tuple[str, int], int]  # next offset, by topic and partition


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
    """One broken promise: I1 to I10, what is wrong, what it is about, and the records concerned.

    `ids` begin with the four names of a run (source, scope, thread, run), with an approval id, or
    with a record's place as text.
    """

    invariant: str
    message: str
    ids: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()

    def __str__(self) -> str:
        return f"{self.invariant} {self.message} [{', '.join(self.ids)}]"


class Begin(NamedTuple):
    """Where a partition begins for its reader; retention, or the reader, left out what was before.

    `since` is the broker's time from which nothing is missing; None: nothing is there at all.
    """

    offset: int
    since: int | None


@dataclass(frozen=True, slots=True)
class Source:
    """An input topic's source: its name, its protocol and its `options` as configured.

    The protocol is one of ag-ui, a2a and genkit.
    """

    name: str
    protocol: str = "ag-ui"
    options: Mapping[str, Any] = field(default_factory=dict)
    pointer: str | None = None  # a JSON Pointer to the event, where others have wrapped it
    enveloped: bool = False  # an event may stand beside the input of its run


@dataclass(frozen=True, slots=True)
class Setup:
    """How the bridge under test was configured, and what its log was when it was read.

    Instants and spans in milliseconds, by the broker's clock.
    """

    sources: Mapping[str, Source]  # by input topic
    slots: int | None = None  # unknown: home slots and hops are not checked
    json_depth: int = 64
    record_bytes: int = 1_000_000
    final: bool = False  # every input was worked on and every parked answer is settled
    compacted: bool = False  # the cleaner may have removed revisions and forgotten runs
    remembered_ms: int | None = None  # but no run that was open so shortly before `now`
    positions: Positions | None = None  # read with the log, or before it
    positions_after: Positions | None = None  # read behind it, where it is no consistent cut
    now: int | None = None  # None: the newest stamp of the broker's
    in_flight_ms: int = 0  # what is younger may be half written yet
    topics: Mapping[str, Role] = field(default_factory=dict)  # all that were read; empty: unknown
    begins: Mapping[tuple[str, int], Begin] = field(default_factory=dict)  # where not from 0
    late_starts: frozenset[str] = frozenset()  # input topics not read from their beginning
    thread: str | None = None  # only this thread's records were read
    expiry_grace_ms: int = 60_000  # timers may be held this long after a takeover
    clock_slack_ms: int = (
        2_000  # producers stamp with their own clock, the bridge with the broker's
    )


def text_of(place: Place) -> str:
    """`topic/partition/offset`, the form in which the bridge names an unnamed answer."""
    return f"{place[0]}/{place[1]}/{place[2]}"


def place_in(text: str) -> Place | None:
    """The place in that form; None for any other text."""
    topic, *numbers = text.rsplit("/", 2)
    if len(numbers) != 2 or not all(map(str.isdecimal, numbers)):
        return None
    return (topic, int(numbers[0]), int(numbers[1]))
