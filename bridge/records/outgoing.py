"""One record on its way out: which topic it belongs to by role, never by name.

The names of topics are configuration; whoever produces the record looks them up by role.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bridge.core.record import Header

Role = Literal[
    "approvals", "resume-commands", "answer-verdicts", "dead-letters", "state", "reroute"
]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A record to produce. `partition` None is the partition with the slot's own number.

    `timestamp` (milliseconds since the epoch) None leaves it to the producer.
    """

    topic: Role
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    partition: int | None = None
    timestamp: int | None = None
