"""What the public records share: free JSON as verbatim slices, and where a record came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bridge.core.model import JsonText
from bridge.records.instants import Instant

if TYPE_CHECKING:
    FreeJson = msgspec.Raw | None
else:
    # By `Raw | None` msgspec means null and nothing else; by this one any JSON, or the default.
    FreeJson = msgspec.Raw | msgspec.UnsetType
"""Any JSON as its literal text, so number literals and key order survive; None where it is absent.

`bytes(raw)` is the text, `msgspec.json.decode(raw)` the value. The text `null` is JSON's null.
"""


class Origin(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where the record stood that this one was made from, as its producer wrote it."""

    topic: str
    partition: int
    offset: int
    timestamp: Instant
    """The record's own timestamp."""

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}/{self.offset}"


def free_json(text: JsonText | None) -> FreeJson:
    """Free JSON that goes out verbatim, or nothing."""
    return None if text is None else msgspec.Raw(text)
