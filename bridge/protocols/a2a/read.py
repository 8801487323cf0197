"""A2A events to core inputs: which task asks, and which went on without us.

Nothing is remembered between records. The end of a stream and `final` carry no meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeGuard
from uuid import UUID

from bridge.core.model import (
    OF_THREAD,
    Input,
    Interrupted,
    Keep,
    Kind,
    Limits,
    Order,
    ResumeAnswered,
    ResumeRunId,
    ThreadEnded,
)
from bridge.protocols.a2a import items as found
from bridge.protocols.a2a.carry import keep
from bridge.protocols.a2a.event import (
    INTERRUPTED,
    STATES,
    Event,
    Frame,
    State,
    Told,
    asks,
    may_ask,
    may_hold_question,
    peek,
    state_of,
    told,
)
from bridge.protocols.a2a.glance import BEGINNING, NOTHING, PHASES, glance, went_on
from bridge.protocols.a2a.identity import generation_of, instant_of
from bridge.protocols.a2a.interrupted import interrupted
from bridge.protocols.a2a.options import Options
from bridge.protocols.fields import Unreadable
from bridge.protocols.hidden import refuse_hidden
from bridge.protocols.interface import Reading, Record
from bridge.protocols.slices import given

_KINDS: dict[State, Kind] = {"INPUT_REQUIRED": "input", "AUTH_REQUIRED": "authorization"}


def read(record: Record, source: str, limits: Limits, options: Options) -> Reading:
    """What one event means. Strict JSON is demanded only of events that ask somebody."""
    value = record.value or b""
    fits = len(value) <= limits.record_bytes
    at_a_glance = glance(value, record, source, options) if fits else None
    return at_a_glance or read_closely(Event(value, record, source, limits, options))


def read_closely(event: Event) -> Reading:
    """The long way, which reads every event."""
    return event.read_by(_read)


def _read(event: Event) -> Reading:
    frame, pointer = peek(event), ""
    error = given(frame.error)
    if error is not None:
        if frame.result is not None:
            raise Unreadable("malformed", "", "either a result or an error")
        return _refused_request(frame, error, event)
    if frame.result is not None:
        frame, pointer = frame.result, "/result"
    if frame.tasks is not None:
        return event.reading(*_page(frame.tasks, pointer, event))
    tells = told(frame, pointer)
    if tells is None:
        # None of ours, unless it spells a question in another way.
        event.strictly()
        refuse_hidden(event, may_hold_question, asks)
        if not frame.method and may_ask(event.value):
            raise Unreadable("malformed", "", "has none of the members that A2A events have")
        event.seen.add("jsonrpc_request" if frame.method else "unknown_event")
        return event.reading()
    match tells.kind:
        case "message":
            return NOTHING  # an agent that answers without a task asks for no interrupt
        case "artifact":
            return _artifact(tells, event)
        case _:
            return event.reading(*_status(tells, event))


def _page(tasks: list[Frame], pointer: str, event: Event) -> Iterator[Input]:
    """A page of tasks tells of each one what its own snapshot would.

    Its tasks, and the questions of all of them, are held to the limit of one run: whatever a
    record tells is decided and sent in one piece.
    """
    _check_page(len(tasks), "tasks", pointer, event)
    event.strictly()
    questions = 0
    for index, task in enumerate(tasks):
        if _state(task, event) is None:
            event.seen.add("unknown_state")
            continue
        for one in _status(Told("task", task, f"{pointer}/tasks/{index}"), event):
            questions += len(one.questions) if isinstance(one, Interrupted) else 0
            _check_page(questions, "questions", pointer, event)
            yield one


def _check_page(count: int, of: str, pointer: str, event: Event) -> None:
    limit = event.limits.interrupts_per_run
    if count > limit:
        raise Unreadable("limit", f"{pointer}/tasks", f"a page with more than {limit} {of}")


def _status(tells: Told, event: Event) -> Iterator[Input]:
    frame = tells.frame
    name, task_id = ("id", frame.id) if tells.kind == "task" else ("taskId", frame.taskId)
    if not isinstance(task_id, str) or not task_id:
        raise Unreadable("malformed", f"{tells.pointer}/{name}", "must be a string, not empty")
    if frame.status is None:
        raise Unreadable("malformed", f"{tells.pointer}/status", "must be an object")
    state = _state(frame, event)
    if state is None:
        raise Unreadable("unsupported", f"{tells.pointer}/status/state", "no state of A2A 1.0")
    if state in INTERRUPTED:
        event.strictly()
        yield from interrupted(event, tells, task_id, _KINDS[state])
        return
    if not event.is_strict and may_ask(event.value):
        event.strictly()  # maybe another state stands under the same key
    generation, origin = generation_of(frame), event.record.origin
    if generation or state != BEGINNING:  # any newer other state closes the question
        order = Order(instant_of(frame.status, origin), generation)
        yield from went_on(event.thread(task_id), PHASES[state], order, origin)


def _state(frame: Frame, event: Event) -> State | None:
    state = state_of(frame.status)
    if state is not None and frame.status is not None and frame.status.state not in STATES:
        event.seen.add("state_spelling")
    return state


def _artifact(tells: Told, event: Event) -> Reading:
    """Artifacts close nothing. One that is called Interrupt may hold the items of a question."""
    frame = tells.frame
    if frame.artifact is None or frame.artifact.name != "Interrupt":
        return NOTHING
    event.strictly()
    items = found.of_artifacts([frame.artifact])
    found.check_count(items, event.limits)
    if not items:
        return NOTHING
    if not frame.taskId:
        raise Unreadable("malformed", f"{tells.pointer}/taskId", "must be a string")
    origin = event.record.origin
    return event.reading(Keep(event.thread(frame.taskId), OF_THREAD, keep(items, origin), origin))


_CODE = re.compile(rb'"code"\s*:\s*(-\d+)')
_REASON = re.compile(rb'"reason"\s*:\s*"([A-Z_]+)"')
_NOT_FOUND = {b"-32001", b"TASK_NOT_FOUND"}
_NOT_CANCELABLE = {b"-32002", b"TASK_NOT_CANCELABLE"}
_UNSUPPORTED = {b"-32004", b"UNSUPPORTED_OPERATION"}
_AT_ITS_END = re.compile(rb"(?i)terminal|completed")


def _refused_request(frame: Frame, error: bytes, event: Event) -> Reading:
    """The agent refused a message: the task that the record's key names takes no answer any more.

    The answer to our own request bears its id and is about that one question.
    """
    event.strictly()
    event.seen.add("error_envelope")
    ours = frame.id if _is_ours(frame.id) else None
    reasons = set(_CODE.findall(error) + _REASON.findall(error))
    # To others, "not found" may be about a stream, and "unsupported" about a way of calling.
    if ours is not None:
        takes_none = bool(reasons & (_NOT_FOUND | _NOT_CANCELABLE | _UNSUPPORTED))
    elif reasons & _UNSUPPORTED:
        takes_none = _AT_ITS_END.search(error) is not None
    else:
        takes_none = bool(reasons & _NOT_CANCELABLE)
    if not takes_none:
        return event.reading()
    task_id = event.key_text()
    if not task_id:
        return event.unattributable()
    origin, thread = event.record.origin, event.thread(task_id)
    if ours is not None:
        return event.reading(ResumeAnswered(thread, ours, origin))
    return event.reading(ThreadEnded(thread, "task_ended", Order(origin.timestamp), origin))


def _is_ours(request_id: object) -> TypeGuard[ResumeRunId]:
    """Whether a request's id may be one of this bridge: they are UUIDs of version 8."""
    try:
        return isinstance(request_id, str) and UUID(request_id).version == 8
    except ValueError:
        return False
