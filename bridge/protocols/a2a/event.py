"""One A2A event before anybody knows whether it matters: its task and state, found cheaply.

Five dialects say the same in different wrappers. One structure reads them all, and a slice stands
wherever only a question has to be looked at closer.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import msgspec
from msgspec import Raw

from bridge.core.json_text import JsonError
from bridge.core.model import Limits, ThreadKey
from bridge.protocols.a2a.options import Options, identity
from bridge.protocols.event import RawEvent, loosely
from bridge.protocols.fields import Unreadable, spelling
from bridge.protocols.interface import Record
from bridge.protocols.slices import given

NAME: Final = "a2a"

State = Literal[
    "SUBMITTED",
    "WORKING",
    "COMPLETED",
    "FAILED",
    "CANCELED",
    "INPUT_REQUIRED",
    "REJECTED",
    "AUTH_REQUIRED",
]
_IN_ORDER: tuple[State, ...] = get_args(State)  # of the proto enum
INTERRUPTED: Final = frozenset({"INPUT_REQUIRED", "AUTH_REQUIRED"})

# 1.0 writes the names of the proto enum or its numbers, 0.3 JSON-RPC its own; 0.3's proto had
# CANCELLED. What stands nowhere here may be an interrupt of a later version.
STATES: Final[dict[str | int | None, State]] = {
    **{f"TASK_STATE_{name}": name for name in _IN_ORDER},
    **{name.lower().replace("_", "-"): name for name in _IN_ORDER},
    **{number: name for number, name in enumerate(_IN_ORDER, 1)},
    "TASK_STATE_CANCELLED": "CANCELED",
}
_SPELT: Final = {spelling(name): name for name in _IN_ORDER} | {"cancelled": "CANCELED"}


def state_of(status: Status | None) -> State | None:
    """The state of a status, also in another case or with other separators; None: none of A2A."""
    if status is None:
        return None
    exact = STATES.get(status.state)
    if exact is not None or not isinstance(status.state, str):
        return exact
    return _SPELT.get(spelling(status.state).removeprefix(_PROTO))


def is_proto(state: str | int | None) -> bool:
    """Whether a state is written as the proto enum has it, however it is spelt."""
    return isinstance(state, str) and spelling(state).startswith(_PROTO)


_PROTO: Final = spelling("TASK_STATE_")


class Status(msgspec.Struct):
    state: str | int | None = None
    timestamp: str | None = None
    message: Raw = Raw()


class Artifact(msgspec.Struct):
    name: str | None = None
    description: str | None = None
    parts: Raw = Raw()


class Frame(msgspec.Struct):
    """An envelope, a wrapper or the object inside, by the members that it happens to have.

    ProtoJSON's parsers take snake_case, too: `peek` gives its members their usual names.
    """

    kind: str | None = None
    id: str | int | float | None = None
    taskId: str | None = None
    contextId: str | None = None
    status: Status | None = None
    generation: str | int | None = None
    artifact: Artifact | None = None
    artifacts: Raw = Raw()
    metadata: Raw = Raw()
    role: Raw = Raw()
    message: Raw = Raw()
    task: Frame | None = None
    statusUpdate: Frame | None = None
    artifactUpdate: Frame | None = None
    tasks: list[Frame] | None = None
    result: Frame | None = None
    error: Raw = Raw()
    method: str | None = None
    task_id: str | None = None
    context_id: str | None = None
    status_update: Frame | None = None
    artifact_update: Frame | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """What an event tells: the object, which kind of object it is, and where it stands."""

    kind: Literal["task", "status", "artifact", "message"]
    frame: Frame
    pointer: str


class Event(RawEvent[Options]):
    """One event of A2A, with the settings of its source and the agent that it comes from."""

    __slots__ = ("scope", "tenant")

    def __init__(
        self, value: bytes, record: Record, source: str, limits: Limits, options: Options
    ) -> None:
        super().__init__(value, record, source, limits, options)
        self.scope, self.tenant = identity(options, record.headers)

    def thread(self, task_id: str) -> ThreadKey:
        return ThreadKey(self.source, self.scope, task_id)


def told(frame: Frame, pointer: str) -> Told | None:
    """The one thing that a result, a stream response or a bare object tells; None: nothing known.

    Raises Unreadable where it tells two.
    """
    has_message = given(frame.message) is not None
    wrapped = [frame.task, frame.statusUpdate, frame.artifactUpdate]
    if 3 - wrapped.count(None) + has_message > 1:
        raise Unreadable("malformed", pointer, "exactly one of its members may be given")
    if frame.task is not None:
        return Told("task", frame.task, f"{pointer}/task")
    if frame.statusUpdate is not None:
        return Told("status", frame.statusUpdate, f"{pointer}/statusUpdate")
    if frame.artifactUpdate is not None:
        return Told("artifact", frame.artifactUpdate, f"{pointer}/artifactUpdate")
    if has_message:
        return Told("message", frame, f"{pointer}/message")
    return _bare(frame, pointer)


def _bare(frame: Frame, pointer: str) -> Told | None:
    """An object without a wrapper: by its `kind`, else by what it has."""
    if frame.status is not None and frame.artifact is not None:
        raise Unreadable("malformed", pointer, "either a status or an artifact")
    if frame.kind == "task" or (frame.kind is None and frame.status is not None and frame.id):
        return Told("task", frame, pointer)
    if frame.kind == "status-update" or (frame.kind is None and frame.status is not None):
        return Told("status", frame, pointer)
    if frame.kind == "artifact-update" or (frame.kind is None and frame.artifact is not None):
        return Told("artifact", frame, pointer)
    if frame.kind == "message" or (frame.kind is None and bytes(frame.role)):
        return Told("message", frame, pointer)
    return None


_PEEK = msgspec.json.Decoder(Frame)


def peek(event: Event) -> Frame:
    """The event's wrappers and status, at less than the price of parsing it.

    Raises JsonError or Unreadable where the value is no JSON object of such members.
    """
    try:
        frame = _PEEK.decode(event.value)
    except (msgspec.DecodeError, RecursionError):
        frame = _peek_odd_text(event)
    if _SNAKE.search(event.value):
        _rename(frame, event.seen)
    return frame


_SNAKE = re.compile(rb'"(?:task_id|context_id|status_update|artifact_update)"')


def _rename(frame: Frame, seen: set[str]) -> None:
    """Members in snake_case under their usual names; where both are given, those count."""
    snake = (frame.task_id, frame.context_id, frame.status_update, frame.artifact_update)
    if any(member is not None for member in snake):
        seen.add("snake_case")
    frame.taskId = frame.taskId or frame.task_id
    frame.contextId = frame.contextId or frame.context_id
    frame.statusUpdate = frame.statusUpdate or frame.status_update
    frame.artifactUpdate = frame.artifactUpdate or frame.artifact_update
    wrapped = (frame.result, frame.task, frame.statusUpdate, frame.artifactUpdate)
    for inner in (*wrapped, *(frame.tasks or ())):
        if inner is not None:
            _rename(inner, seen)


_MAY_ASK = re.compile(rb"(?:input|auth)[\W_]*required|user_consent")


def may_ask(value: bytes) -> bool:
    """Whether an event that seems to ask nothing spells an interrupted state somewhere.

    The words alone first: a search that ignores case looks at every letter.
    """
    lower = value.lower()
    return (b"required" in lower or b"consent" in lower) and _MAY_ASK.search(lower) is not None


def may_hold_question(value: bytes) -> bool:
    """Whether a question may be written in the value. A state as a number is no word."""
    return may_ask(value) or _NUMBER.search(value.lower()) is not None


_NUMBER: Final = re.compile(rb'"state\\*"\s*:\s*[\\"]*\d')


def asks(value: dict[str, Any], around: int = 3) -> bool:
    """Whether this is, in any spelling, an object whose status asks somebody, or one that stands
    around such an object in at most so many envelopes.
    """
    status = value.get("status")
    state = status.get("state") if isinstance(status, dict) else None
    if isinstance(state, str) and spelling(state).removeprefix("taskstate") in _ASKING:
        return True
    if type(state) is int and STATES.get(state) in INTERRUPTED:
        return True
    inner = [one for name, one in value.items() if around and spelling(name) in _AROUND]
    return any(isinstance(one, dict) and asks(one, around - 1) for one in inner)


_ASKING: Final = frozenset({"inputrequired", "authrequired", "userconsentrequired", "6", "8"})
_AROUND: Final = frozenset({"result", "task", "statusupdate"})


def _peek_odd_text(event: Event) -> Frame:
    """The members of text that the fast decoder refuses, or what is wrong with that text.

    NaN in an artifact and emoji cut in half matter only where somebody is asked.
    """
    broken: JsonError | None = None
    try:
        event.strictly()
    except JsonError as error:
        broken = error
    try:  # text as a standard parser takes it, written so that every parser takes it
        value = loosely(event.value)
        mended = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        frame = _PEEK.decode(event.value if broken is None else mended)
    except msgspec.ValidationError as error:
        # The decoder's words name types and a path, never a value.
        path = _PATH.search(str(error))
        pointer = path[1].replace(".", "/").replace("[...]", "/-") if path else ""
        detail = "is of another type than A2A has there"
        raise broken or Unreadable("malformed", pointer, detail) from None
    except (msgspec.DecodeError, RecursionError):
        raise broken or Unreadable("malformed", "", "cannot be read") from None
    if broken is not None and (_asks(frame) or may_ask(event.value)):
        raise broken
    return frame


def _asks(frame: Frame | None) -> bool:
    """Whether an interrupted state stands anywhere, in whichever spelling."""
    if frame is None:
        return False
    wrapped = [frame.result, frame.task, frame.statusUpdate, frame.status_update]
    inner = [*wrapped, *(frame.tasks or ())]
    return state_of(frame.status) in INTERRUPTED or any(map(_asks, inner))


_PATH = re.compile(r" at `\$?([^`]*)`$")
