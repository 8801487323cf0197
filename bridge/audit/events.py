"""What an input record means to a naive reader, whatever its protocol, and which reader it is for.

Where a protocol leaves room the answer is `Free`, so that the checker only insists on what the
published rules settle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bridge.audit import a2a, ag_ui, genkit, text
from bridge.audit.framing import Unsure, bare
from bridge.audit.log import LogRecord, Source
from bridge.audit.readings import Bad, Free, Reading, Unread

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
    if len(record.value or b"") > max_bytes:
        return (Bad("too_large"),)
    try:
        inner = bare(record, source.pointer)
        if inner.value is None:
            return (Free(),)
        if not inner.value.strip():
            raise text.Unreadable("empty")
        reader = _READERS.get(source.protocol)
        if reader is None:
            raise Unsure(f"the protocol {source.protocol} is not read here")
        return reader(inner, source, max_depth)
    except text.Unreadable as error:
        return (Bad(str(error)),)
    except Unsure as error:
        return (Unread(str(error)),)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        # A shape that no naive reader thought of: a whole log goes on without this record.
        return (Unread(f"{type(error).__name__}: {error}"),)
