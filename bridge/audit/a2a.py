"""A naive reading of A2A records: tasks that ask, tasks that go on, items kept for a later status.

One status is one run. All dialects are read by the members they share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from bridge.audit import a2a_items, text
from bridge.audit.log import LogRecord, Source
from bridge.audit.readings import (
    Asked,
    Free,
    Json,
    Kept,
    Question,
    Reading,
    Went,
    check_texts,
    is_text,
)

_ACTIVE, _ASKING = ("SUBMITTED", "WORKING"), ("INPUT_REQUIRED", "AUTH_REQUIRED")
_IN_ORDER = (*_ACTIVE, "COMPLETED", "FAILED", "CANCELED", _ASKING[0], "REJECTED", _ASKING[1])
_STATES = {
    **{f"TASK_STATE_{name}": name for name in _IN_ORDER},
    **{name.lower().replace("_", "-"): name for name in _IN_ORDER},
    **{str(number): name for number, name in enumerate(_IN_ORDER, 1)},
    "TASK_STATE_CANCELLED": "CANCELED",
}
_LETTERS = {name.replace("_", "").lower(): name for name in (*_IN_ORDER, "CANCELLED")}
_SNAKE = {
    "status_update": "statusUpdate",
    "artifact_update": "artifactUpdate",
    "task_id": "taskId",
    "context_id": "contextId",
    "message_id": "messageId",
}
_SPELT = re.compile(rb"(?i)(?:input|auth)[\W_]*required|user_consent")
_WRAPPERS = {"task": "task", "statusUpdate": "status", "artifactUpdate": "artifact"}
_TASK_ENDED = frozenset({"task_ended"})


def read(record: LogRecord, source: Source, max_depth: int) -> tuple[Reading, ...]:
    """What the record tells, one reading for each task. Raises Unreadable for what is bad."""
    loose = text.peek(record.value or b"")
    if not isinstance(loose, dict):
        raise text.Unreadable("no JSON object")
    try:
        event = _usual(text.read(record.value, max_depth))
    except text.Unreadable:
        if any(_state(frame) in _ASKING for frame in _frames(_usual(loose))):
            raise
        return (Free(),)
    scope = _scope(record, source)
    result = event.get("result")
    if event.get("error") is not None:
        if result is not None:
            raise text.Unreadable("a result and an error")
        return (_refused(event, record, scope),)
    if result is not None and not isinstance(result, dict):
        raise text.Unreadable("a result that is no object")
    return tuple(_told(event if result is None else result, record, scope, source))


def _usual(frame: Any) -> Any:
    """The members that A2A knows by their usual names; snake_case is another way to write them."""
    if isinstance(frame, list):
        return [_usual(item) for item in frame]
    if not isinstance(frame, dict):
        return frame
    named = {name: value for name, value in frame.items() if name not in _SNAKE}
    for snake, camel in _SNAKE.items():
        if snake in frame:
            named[camel] = named.get(camel) or frame[snake]
    inner = ("result", "task", "statusUpdate", "artifactUpdate", "tasks", "status", "message")
    return named | {name: _usual(named[name]) for name in inner if name in named}


def _frames(event: Any) -> Iterator[Json]:
    """Whatever may hold a status."""
    if isinstance(event, dict):
        yield event
        for name in ("result", "task", "statusUpdate"):
            yield from _frames(event.get(name))
        for task in event["tasks"] if isinstance(event.get("tasks"), list) else ():
            yield from _frames(task)


def _told(frame: Json, record: LogRecord, scope: str, source: Source) -> Iterator[Reading]:
    if isinstance(frame.get("tasks"), list):
        tasks = [task for task in frame["tasks"] if _state(task) is not None]
        found = [_status(task, task.get("id"), scope, source) for task in tasks]
        yield from found or [Free()]
        return
    given = [name for name in (*_WRAPPERS, "message") if frame.get(name) is not None]
    if len(given) > 1:
        raise text.Unreadable("two members of which only one may be given")
    if given == ["message"]:
        yield Free()
    elif given:
        yield _object(_WRAPPERS[given[0]], frame[given[0]], scope, source)
    elif (kind := _kind(frame)) is not None:
        yield _object(kind, frame, scope, source)
    elif _SPELT.search(record.value or b"") and frame.get("method") is None:
        raise text.Unreadable("asks in another way than A2A's")
    else:
        yield Free()


def _kind(frame: Json) -> str | None:
    """Which object one without a wrapper is."""
    kind, has_status = frame.get("kind"), frame.get("status") is not None
    has_artifact = frame.get("artifact") is not None
    if has_status and has_artifact:
        raise text.Unreadable("a status and an artifact")
    if kind == "task" or (kind is None and has_status and frame.get("id")):
        return "task"
    if kind == "status-update" or (kind is None and has_status):
        return "status"
    if kind == "artifact-update" or (kind is None and has_artifact):
        return "artifact"
    return "message" if kind == "message" or (kind is None and frame.get("role")) else None


def _object(kind: str, frame: Any, scope: str, source: Source) -> Reading:
    if kind == "message":
        return Free()
    if not isinstance(frame, dict):
        raise text.Unreadable("no object")
    if kind == "artifact":
        return _artifact(frame, scope, source)
    return _status(frame, frame.get("id" if kind == "task" else "taskId"), scope, source)


def _artifact(frame: Json, scope: str, source: Source) -> Reading:
    artifact = frame.get("artifact")
    if not isinstance(artifact, dict) or artifact.get("name") != "Interrupt":
        return Free()
    questions = a2a_items.of_artifact(artifact)
    if not questions:
        return Free()
    if not (is_text(frame.get("taskId")) and frame["taskId"]):
        raise text.Unreadable("items of no task")
    configured = tuple(_configured(question, source) for question in questions)
    return Kept(frame["taskId"], scope, configured)


def _status(frame: Json, task: Any, scope: str, source: Source) -> Reading:
    status = frame.get("status")
    if not (is_text(task) and task and isinstance(status, dict)):
        raise text.Unreadable("a status of no task")
    check_texts(frame, "kind", "taskId", "contextId")
    check_texts(status, "timestamp")
    state = _state(frame)
    if state is None:
        raise text.Unreadable("no state of A2A")
    written, generation = status.get("timestamp"), _generation(frame)
    at = None if written is None else text.instant(written)
    if state in _ASKING:
        return _asked(frame, task, scope, source, at)
    if state == "SUBMITTED" and not generation:
        return Free()  # every task begins so, and none returns to it
    reasons = {"moved_on" if state in _ACTIVE else "task_ended"}
    if state in ("FAILED", "REJECTED"):
        reasons.add("run_failed")  # of the open question; a later one meets a task at its end
    return Went(
        thread=task,
        reasons=frozenset(reasons),
        scope=scope,
        at=at,
        generation=generation,
        surely=written is None or at is not None,
        works=state in _ACTIVE,
    )


def _state(frame: Any) -> str | None:
    status = frame.get("status") if isinstance(frame, dict) else None
    written = status.get("state") if isinstance(status, dict) else None
    if not isinstance(written, str | int):
        return None
    state = _STATES.get(str(written))
    letters = re.sub(r"[\W_]", "", str(written)).lower().removeprefix("taskstate")
    found = state or _LETTERS.get(letters)
    return "CANCELED" if found == "CANCELLED" else found


def _asked(frame: Json, task: str, scope: str, source: Source, at: int | None) -> Reading:
    message = frame["status"].get("message")
    message = {} if message is None else message
    if not isinstance(message, dict):
        raise text.Unreadable("a message that is no object")
    check_texts(message, "messageId", "contextId")
    parts = a2a_items.parts_of(message)
    words = "\n".join(part["text"] for part in parts if part.get("text")) or None
    own = a2a_items.of_message(message, parts) or _of_artifacts(frame)
    is_input = _state(frame) == "INPUT_REQUIRED" and not a2a_items.asks_for_credential(message, own)
    wanted = source.options.get("input_required_filter", "none")
    unasked = wanted == "without_items" or (wanted == "without_message" and not parts)
    if is_input and not own and unasked:
        return Free()  # the source's filter says that such a status is no question
    run = message.get("messageId") or None
    bare = not own
    kind = "input" if is_input else "authorization"
    if bare or not is_input:
        # One question for the whole status. LangGraph's mix of dialects says how it is answered.
        state = str(frame["status"]["state"])
        is_mixed = frame.get("kind") is not None and state.startswith("TASK_STATE_")
        shape = "langgraph" if is_mixed and kind == "input" else "plain"
        own = (Question(None, {"message": words} if words else {}, {}, {"shape": shape}),)
    questions = tuple(_complete(question, run, kind, words, source) for question in own)
    content = [kind, words, [part.get("data") for part in parts], message.get("metadata")]
    context = frame.get("contextId") or message.get("contextId") or None
    return Asked(
        thread=task,
        run=run,
        questions=questions,
        content=content if run else None,
        scope=scope,
        at=at,
        generation=_generation(frame),
        bare=bare,
        native={"context": context},
    )


def _of_artifacts(frame: Json) -> tuple[Question, ...]:
    """The items of the newest artifact in a task's snapshot that has any."""
    listed = frame.get("artifacts")
    named = [a for a in listed if isinstance(a, dict)] if isinstance(listed, list) else []
    found = [a2a_items.of_artifact(a) for a in named if a.get("name") == "Interrupt"]
    return next((questions for questions in reversed(found) if questions), ())


def _complete(
    question: Question, run: str | None, kind: str, words: str | None, source: Source
) -> Question:
    """With what the status lends its items: its id and its words."""
    shown = {"kind": kind, **question.shown}
    if words:
        shown.setdefault("message", words)
    return _configured(replace(question, id=question.id or run, shown=shown), source)


def _configured(question: Question, source: Source) -> Question:
    """Answered as the settings want it, else as the question shows."""
    shape = source.options.get("answer_shape") or question.native["shape"]
    return replace(question, native={**question.native, "shape": shape})


def _refused(event: Json, record: LogRecord, scope: str) -> Reading:
    """An error of the agent ends the question of the task that the record's key names.

    It surely does where it says that the task is over, and answers no request of the bridge.
    """
    task = (record.key or b"").decode(errors="replace")
    error = event["error"] if isinstance(event["error"], dict) else {}
    over = re.search("terminal|completed", str(error.get("message")).lower()) is not None
    is_over = error.get("code") == "-32002" or (error.get("code") == "-32004" and over)
    surely = is_over and not is_text(event.get("id"))
    return Went(task, _TASK_ENDED, scope, surely=surely) if task else Free()


def _scope(record: LogRecord, source: Source) -> str:
    def header(name: str) -> str:
        return (record.header(name) or b"").decode(errors="replace")

    options = source.options
    endpoint = str(options.get("endpoint") or "").rstrip("/")
    agent = options.get("agent") or header("a2a-agent") or endpoint
    tenant = options.get("tenant") or header("a2a-tenant")
    plain = not tenant and "/" not in agent
    return agent if plain else f"{agent}/{quote(tenant, safe='')}"


def _generation(frame: Json) -> int:
    written = frame.get("generation")
    return (
        int(written) if isinstance(written, str) and written.isascii() and written.isdigit() else 0
    )
