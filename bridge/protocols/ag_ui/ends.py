"""What an event says of questions that its run told before: that the run is over, or a new one on.

Only a source that reads such questions says so: for all others these events need no hop.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from bridge.core.model import Ended, Millis, ThreadKey
from bridge.protocols.ag_ui.event import NAME, Event

_NAMELESS = ""


def ends(
    event: Event, thread_id: str, run_id: str, at: Millis, *, told: bool, asks: bool = False
) -> Iterator[Ended]:
    """The end of a run. `told`: it says itself how it ended; `asks`: with questions of its own.

    What was told before under its key for a thread, or without an agent, may have been of this run
    or of another: with it, it is forgotten, and counted.
    """
    if not event.options.legacy:
        return
    ended = _ended(event, event.thread(thread_id), run_id, asks=not told, explains=asks)
    yield replace(ended, at=at)
    key = event.key_text()
    if key and key != thread_id:
        yield _ended(event, event.thread(key), _NAMELESS, in_order=False)
    if event.agent() and not event.options.agent:
        yield _ended(event, ThreadKey(event.source, "", thread_id), _NAMELESS, in_order=False)


def begins(event: Event, thread_id: str) -> Iterator[Ended]:
    """A new run: one without a name that was under way before it has not come to its end."""
    if event.options.legacy and event.keeps_order(thread_id) and not event.lacks_agent():
        yield _ended(event, event.thread(thread_id), _NAMELESS)


def fails(event: Event, thread_id: str) -> Iterator[Ended]:
    """The run under way failed; an error names none."""
    if event.options.legacy:
        yield _ended(event, event.thread(thread_id), None, explains=True)


def _ended(
    event: Event,
    thread: ThreadKey,
    run_id: str | None,
    *,
    asks: bool = False,
    in_order: bool | None = None,
    explains: bool = False,
) -> Ended:
    origin = event.record.origin
    return Ended(
        thread,
        NAME,
        origin.timestamp,
        origin,
        run_id,
        asks=asks,
        in_order=event.keeps_order(thread.thread_id) if in_order is None else in_order,
        explains=explains,
    )
