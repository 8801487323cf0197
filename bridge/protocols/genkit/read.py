"""Genkit records to core inputs: which turn paused with which questions, and which went on.

A turn is paused only where its finish reason says so. A failed resume still shows the parts of
the paused turn, so parts alone never tell.
"""

from __future__ import annotations

from typing import Final

from bridge.core.model import Limits, Order, WentOn
from bridge.protocols.fields import Unreadable, spelling
from bridge.protocols.genkit.event import Event, Found, created_at, find_turn
from bridge.protocols.genkit.options import Options
from bridge.protocols.genkit.paused import paused
from bridge.protocols.genkit.session import session_of
from bridge.protocols.interface import Reading, Record

# The turn came to its end, and what was asked before it is no longer at the leaf.
_ENDED: Final = frozenset({"stop", "length", "blocked", "other", "unknown"})
# Nothing moved: the last completed snapshot of the session is still where it was.
_UNMOVED: Final = frozenset({"failed", "aborted", "detached", None})
_COMPLETED: Final = (None, "", "completed")
_INCOMPLETE: Final = frozenset({"pending", "failed", "aborted", "aborting", "expired"})


def read(record: Record, source: str, limits: Limits, options: Options) -> Reading:
    """What one record means. Strict JSON is demanded only of turns that ask."""
    return Event(record.value or b"", record, source, limits, options).read_by(_read)


def _read(event: Event) -> Reading:
    found = find_turn(event)
    if found is None:
        return event.reading()
    reason = found.turn.finishReason
    if reason == "interrupted":
        return paused(found, event) if _is_completed(found) else event.reading()
    if b'"interrupted"' in event.value:
        # A paused turn could hide behind a key that stands there twice.
        event.strictly()
    if reason in _ENDED:
        if not _is_completed(found):
            return event.reading()
        # A newer completed turn: it confirms our resume, or an open question is past.
        thread, own = session_of(found, event).thread(event.source), created_at(found)
        if thread is None:
            return event.unattributable()
        # A store may write an old snapshot again: its own time is the earlier.
        at = event.at(own) if own is None else min(event.at(own), own)
        return event.reading(WentOn(thread, Order(at), event.record.origin))
    for name in ("finishReason", "finish_reason"):
        if spelling(getattr(found.turn, name) or "").startswith("interrupt"):
            detail = "spells the finish reason interrupted in another way"
            raise Unreadable("unknown_outcome", f"{found.pointer}/{name}", detail)
    if reason not in _UNMOVED:
        event.seen.add("unknown_finish_reason")
    return event.reading()


def _is_completed(found: Found) -> bool:
    """Raises Unreadable for a status that no runtime writes: it could mean anything."""
    status = found.turn.status
    if status in _COMPLETED:
        return True
    if status in _INCOMPLETE:
        return False
    raise Unreadable("unknown_outcome", f"{found.pointer}/status", "not a status of a snapshot")
