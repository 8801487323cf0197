"""The short way for events that ask nothing, which are nearly all: a state, its task, its instant.

It says what the long way would, or nothing at all. Whatever it does not know by heart, it leaves
to the long way: interrupted states, other wrappers, bad text.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from bridge.core.instants import is_usable, usable_instant
from bridge.core.model import (
    OF_THREAD,
    Drop,
    Input,
    Millis,
    Order,
    Origin,
    ThreadEnded,
    ThreadKey,
    WentOn,
)
from bridge.protocols.a2a.event import STATES, State
from bridge.protocols.a2a.options import Options, identity
from bridge.protocols.interface import Reading, Record

NOTHING: Final = Reading()

Phase = Literal["work", "task_ended", "run_failed"]
"""What a state that asks nothing says: the task is at work, or why it is at its end."""

# There is no reason of its own for a cancelled task; one that is rejected late has failed, too.
PHASES: Final[dict[State, Phase]] = {
    "SUBMITTED": "work",
    "WORKING": "work",
    "COMPLETED": "task_ended",
    "CANCELED": "task_ended",
    "REJECTED": "run_failed",
    "FAILED": "run_failed",
}
_PHASE_OF: dict[str | int | None, Phase] = {
    written: PHASES[state] for written, state in STATES.items() if state in PHASES
}

# Every task begins with it and none returns to it. Told of again, by a second stream or a push, it
# would look newer than the question that has been asked since.
BEGINNING: Final[State] = "SUBMITTED"


class _Status(msgspec.Struct, gc=False):
    state: str
    timestamp: str | None = None


class _Artifact(msgspec.Struct, gc=False):
    name: str | None = None


class _Object(msgspec.Struct, gc=False):
    """A task, or an update of one: `id` stands only in a task."""

    taskId: str = ""
    id: str = ""
    status: _Status | None = None
    artifact: _Artifact | None = None
    generation: msgspec.Raw = msgspec.Raw()


class _Response(msgspec.Struct, gc=False):
    """A result, with a wrapper around its object or without."""

    statusUpdate: _Object | None = None
    artifactUpdate: _Object | None = None
    task: _Object | None = None
    kind: str = ""
    taskId: str = ""
    id: str | int | None = None
    status: _Status | None = None
    artifact: _Artifact | None = None
    message: msgspec.Raw = msgspec.Raw()
    generation: msgspec.Raw = msgspec.Raw()
    tasks: msgspec.Raw = msgspec.Raw()
    status_update: msgspec.Raw = msgspec.Raw()
    artifact_update: msgspec.Raw = msgspec.Raw()


class _Envelope(_Response, gc=False):
    result: _Response | None = None
    error: msgspec.Raw = msgspec.Raw()


_GLANCE = msgspec.json.Decoder(_Envelope)


def glance(value: bytes, record: Record, source: str, options: Options) -> Reading | None:
    """What the event says where it asks nothing; None where it has to be read the long way."""
    try:
        found = _GLANCE.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return None
    said = _object(found)
    if said is None:
        # An agent that answers without a task asks for no interrupt.
        one = found.result or found
        others = (one.statusUpdate, one.artifactUpdate, one.task, one.status, one.artifact)
        more = found.error or one.tasks or one.status_update or one.artifact_update
        is_message = bytes(one.message).startswith(b"{") and others.count(None) == 5
        return NOTHING if is_message and not more else None
    status = said.status
    if status is None:
        artifact = said.artifact
        return NOTHING if artifact is not None and artifact.name != "Interrupt" else None
    phase = _PHASE_OF.get(status.state)
    # With a second state somewhere the same key may stand twice, once with a state that asks.
    if phase is None or said.generation or value.count(b'"state"') != 1:
        return None
    if STATES[status.state] == BEGINNING:
        return NOTHING
    thread = ThreadKey(source, identity(options, record.headers)[0], said.taskId or str(said.id))
    at = None if status.timestamp is None else _millis(status.timestamp)
    order = Order(record.origin.timestamp if at is None else at)
    return Reading(went_on(thread, phase, order, record.origin))


def went_on(thread: ThreadKey, phase: Phase, order: Order, origin: Origin) -> tuple[Input, ...]:
    """What a phase means for a question before it; kept items go when none can follow."""
    if phase == "work":
        return (WentOn(thread, replace(order, rank="work"), origin),)
    return (ThreadEnded(thread, phase, order, origin), Drop(thread, OF_THREAD, origin))


def _object(found: _Envelope) -> _Object | _Response | None:
    """The one object of an event with exactly one; its task's id is a text that is not empty."""
    said: _Response = found
    if found.result is not None:
        said = found.result
        if found.error or found.status or found.statusUpdate or found.task:
            return None
    elif found.error:
        return None
    wrapped = said.statusUpdate or said.artifactUpdate or said.task
    if wrapped is None:
        return said if _is_plain(said) else None
    others = (said.statusUpdate, said.artifactUpdate, said.task).count(None)
    if others != 2 or said.message or said.tasks or said.status or said.artifact:
        return None
    if wrapped.status is not None and wrapped.artifact is not None:
        return None
    id_ = wrapped.id if said.task is not None else wrapped.taskId
    return wrapped if id_ and not (wrapped.id and wrapped.taskId) else None


def _is_plain(said: _Response) -> bool:
    if said.message or said.tasks or (said.status is None) == (said.artifact is None):
        return False
    if said.taskId:
        return not said.id and said.kind in {"", "status-update", "artifact-update"}
    is_task = said.kind in {"", "task"} and said.status is not None
    return is_task and isinstance(said.id, str) and said.id != ""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _millis(text: str) -> Millis | None:
    """The instant in its usual spelling at once, any other as it is read everywhere."""
    if len(text) >= 20 and text[10] == "T" and text[-1] == "Z":
        try:
            since = datetime.fromisoformat(text) - _EPOCH
        except ValueError:
            return usable_instant(text)  # a leap second, say
        at = (since.days * 86_400 + since.seconds) * 1_000 + since.microseconds // 1_000
        return at if is_usable(at) else None
    return usable_instant(text)
