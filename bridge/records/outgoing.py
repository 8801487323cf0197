"""One record on its way out: which topic it belongs to by role, never by name.

The names of topics are configuration; whoever produces the record looks them up by role.
"""

from __future__ import annotations

from typing import Final

import msgspec

from bridge.core.record import Header
from bridge.records.topics import Role

BROKER_MESSAGE_BYTES: Final = 1_048_588  # the default of max.message.bytes


class Outgoing(msgspec.Struct, frozen=True):
    """A record to produce. `partition` None is the partition with the slot's own number.

    It has no timestamp: brokers stamp it. A Struct because every record makes one, and a frozen
    dataclass takes ten times as long to make.
    """

    topic: Role
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    partition: int | None = None
