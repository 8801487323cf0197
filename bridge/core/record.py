"""A Kafka record as the bridge reads it, stripped of its client.

Protocols and records both read this form, so it stands below them; it never carries a client's
own types.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from bridge.core.model import Origin

Header = tuple[str, bytes]


class Record(Struct, frozen=True, gc=False):
    """Value, key and headers as they came; the origin is where the producer wrote the record.

    `hop` is where its copy on the way home stood, for a record that came by reroute.
    """

    value: bytes | None
    key: bytes | None
    headers: Sequence[Header]
    origin: Origin
    hop: Origin | None = None
