"""A Kafka record as the bridge reads it, stripped of its client.

Protocols and records both read this form, so it stands below them; it never carries a client's
own types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from bridge.core.model import Origin

Header = tuple[str, bytes]

Kind = Literal["event", "answer", "operation"]
"""What the records of an input topic are."""


class Hop(Struct, frozen=True, gc=False):
    """What the worker that sent a record home says it is; `source` is empty but for events."""

    at: Origin  # where the record stands on its way home
    kind: Kind
    source: str = ""


class Record(Struct, frozen=True, gc=False):
    """Value, key and headers as they came; the origin is where the producer wrote the record.

    `hop` is there for a record that came by reroute, `whole` where value, key and headers were
    taken out of something that others had wrapped around them: it is the record as it came.
    """

    value: bytes | None
    key: bytes | None
    headers: Sequence[Header]
    origin: Origin
    hop: Hop | None = None
    whole: Record | None = None

    @property
    def as_it_came(self) -> Record:
        """With all that stood around it."""
        return self.whole or self
