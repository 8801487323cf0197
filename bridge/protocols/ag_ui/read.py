"""AG-UI events to core inputs: which run ended with which questions, and who went on.

Nothing is inferred from the order of records, and nothing is remembered between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bridge.core.model import Limits, Order, RunFailed, RunStarted
from bridge.protocols.ag_ui.ends import begins, fails
from bridge.protocols.ag_ui.event import OTHER_TYPES, Event, Peek, asks, peek
from bridge.protocols.ag_ui.finished import run_finished
from bridge.protocols.ag_ui.legacy import on_interrupt
from bridge.protocols.ag_ui.options import NO_OPTIONS, Options
from bridge.protocols.fields import Fields, Unreadable, spelling
from bridge.protocols.hidden import passed_over, spells_interrupt
from bridge.protocols.interface import Reading, Record

_NOTHING = Reading()


def read(record: Record, source: str, limits: Limits, options: Options = NO_OPTIONS) -> Reading:
    """What one event means. Strict JSON is demanded only of events that become inputs."""
    return Event(record.value or b"", record, source, limits, options).read_by(_read)


def _read(event: Event) -> Reading:
    peeked = peek(event)
    return _NOTHING if peeked.type in OTHER_TYPES else read_known(peeked, event)


def read_known(peeked: Peek, event: Event) -> Reading:
    """An event that is not known to tell nothing. Raises JsonError and Unreadable."""
    reader = _READERS.get(peeked.type)
    if reader is not None:
        return reader(event)
    if peeked.type == "CUSTOM":
        if bytes(peeked.name) == b'"on_interrupt"':
            return on_interrupt(event)
    elif spelling(peeked.type) == "runfinished":
        # A misspelt end of a run could hide an interrupt: it is never taken for something else.
        raise Unreadable("malformed", "/type", "spells RUN_FINISHED in another way")
    else:
        return passed_over(event, "unknown_type", spells_interrupt, asks)
    return event.reading()


def _run_started(event: Event) -> Reading:
    """Whoever starts a run may be continuing the interrupted one.

    It closes only what its resume list names; the start of our own resume is confirmed without one.
    So is that of an agent whose name the event lacks, while it closes nothing.
    """
    fields = event.fields()
    thread_id, run_id = fields.required_text("threadId"), fields.required_text("runId")
    fields.check_integer("timestamp")
    resumes: list[str] = []
    pointer, given = fields.find("input")
    if given is not None:
        pointer, entries = Fields(given, pointer, event.seen).array("resume")
        for index, value in enumerate(entries):
            entry = Fields(value, f"{pointer}/{index}", event.seen)
            resumes.append(entry.required_text("interruptId"))
            if entry.text("status") not in {"resolved", "cancelled"}:
                raise Unreadable("malformed", f"{pointer}/{index}/status", "resolved or cancelled")
            entry.object("metadata")
    started = RunStarted(
        thread=event.thread(thread_id),
        run_id=run_id,
        order=Order(event.at(fields.find("timestamp")[1])),
        origin=event.record.origin,
        resumes=() if event.lacks_agent() else tuple(resumes),
    )
    return event.reading(started, *begins(event, thread_id))


def _run_error(event: Event) -> Reading:
    """A RUN_ERROR names no run: it belongs to the thread the record's key names, or to nobody."""
    fields = event.fields()
    fields.required_text("message")
    fields.text("code")
    fields.check_integer("timestamp")
    thread_id = fields.text("threadId") or event.key_text()
    if event.lacks_agent():
        return event.reading()
    if not thread_id:
        return event.unattributable()
    at = event.at(fields.find("timestamp")[1])
    failed = RunFailed(event.thread(thread_id), Order(at), event.record.origin)
    return event.reading(failed, *fails(event, thread_id))


_READERS: Mapping[str, Callable[[Event], Reading]] = {
    "RUN_FINISHED": run_finished,
    "RUN_STARTED": _run_started,
    "RUN_ERROR": _run_error,
}
