"""What an input record means to a naive reader, whatever its protocol, and which reader it is for.

Where a protocol leaves room the answer is `Free`, so that the checker only insists on what the
published rules settle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bridge.audit import a2a, ag_ui, genkit, text
from bridge.audit.log import LogRecord, Source
from bridge.audit.readings import Bad, Reading

__all__ = ["read_event"]

_READERS: Mapping[str, Callable[[LogRecord, Source, int], tuple[Reading, ...]]] = {
    "ag-ui": ag_ui.read,
    "a2a": a2a.read,
    "genkit": genkit.read,
}


def read_event(
    record: LogRecord, source: Source, max_depth: int, max_bytes: int
) -> tuple[Reading, ...]:
    """What the record means, decided from it alone; several things where it tells of several."""
    value = record.value or b""
    if len(value) > max_bytes:
        return (Bad("too_large"),)
    try:
        if not value.strip():
            raise text.Unreadable("empty")
        return _READERS[source.protocol](record, source, max_depth)
    except text.Unreadable as error:
        return (Bad(str(error)),)
