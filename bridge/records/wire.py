"""What the JSON forms of the records share: free JSON as verbatim slices, and the origin.

A slice goes out exactly as it came in, so number literals and key order survive.
"""

from __future__ import annotations

import msgspec

from bridge.core.model import JsonText, Origin
from bridge.records.instants import rfc3339

Raw = msgspec.Raw


class WireOrigin(msgspec.Struct):
    """Where the record stood that this one was made from."""

    topic: str
    partition: int
    offset: int
    timestamp: str


def wire_origin(origin: Origin) -> WireOrigin:
    """The JSON form of an origin; its timestamp is an instant like any other."""
    return WireOrigin(origin.topic, origin.partition, origin.offset, rfc3339(origin.timestamp))


def optional_raw(text: JsonText | None) -> Raw | None:
    """Free JSON that goes out verbatim, or nothing."""
    return None if text is None else Raw(text)
