"""What an event says of questions that its run told before: that the run is over, or a new one on.

Only a source that reads such questions says so: for all others these events need no hop.
"""

from __future__ import annotations

from msgspec.structs import replace

from bridge.core.model import Millis, Order, RunEnded, ThreadKey
from bridge.protocols.ag_ui.event import NAME, Event

_NAMELESS = ""


def ends(
    event: Event, thread_id: str, run_id: str, at: Millis, *, told: bool, asks: bool = False
) -> tuple[RunEnded, ...]:
    """The end of a run. `told`: it says itself how it ended; `asks`: with questions of its own.

    What was told before under its key for a thread, or without an agent, may have been of this run
    or of another: with it, it is forgotten, and counted.
    """
    if not event.options.legacy:
        return ()
    thread, key, origin = event.thread(thread_id), event.key_text(), event.record.origin
    in_order = key == thread_id
    ended = RunEnded(
        thread=thread,
        protocol=NAME,
        order=Order(at),
        origin=origin,
        run_id=run_id,
        asks=not told,
        in_order=in_order,
        explains=asks,
    )
    others = []
    if key and not in_order:
        others.append(_forgets(event, event.thread(key), in_order=False))
    if thread.scope and not event.options.agent:
        nobody = ThreadKey(event.source, "", thread_id)
        others.append(_forgets(event, nobody, in_order=False))
    return (ended, *others)


def begins(event: Event, thread_id: str) -> tuple[RunEnded, ...]:
    """A new run: one without a name that was under way before it has not come to its end."""
    if not event.options.legacy or event.key_text() != thread_id or event.lacks_agent():
        return ()
    return (_forgets(event, event.thread(thread_id), in_order=True),)


def fails(event: Event, thread_id: str) -> tuple[RunEnded, ...]:
    """The run under way failed; an error names none."""
    if not event.options.legacy:
        return ()
    in_order = event.key_text() == thread_id
    failed = _forgets(event, event.thread(thread_id), in_order=in_order)
    return (replace(failed, run_id=None, explains=True),)


def _forgets(event: Event, thread: ThreadKey, *, in_order: bool) -> RunEnded:
    origin = event.record.origin
    return RunEnded(
        thread=thread,
        protocol=NAME,
        order=Order(origin.timestamp),
        origin=origin,
        run_id=_NAMELESS,
        in_order=in_order,
    )
