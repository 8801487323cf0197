"""A naive reading of Genkit records: turns that paused, turns that went on.

A turn paused only where its finish reason says so; its parts alone never tell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from bridge.audit import text
from bridge.audit.log import LogRecord, Source
from bridge.audit.readings import (
    Asked,
    Free,
    Json,
    Question,
    Reading,
    Went,
    check_texts,
    is_text,
)

TOOL_APPROVAL = "genkit-middleware/toolApproval"
_HELD = ("Tool not in approved list: ", "Approval judge asked to confirm", "Approval judge failed")
_WENT_ON = frozenset({"stop", "length", "blocked", "other", "unknown"})
_COMPLETED = (None, "", "completed")
_INCOMPLETE = ("pending", "failed", "aborted", "aborting", "expired")
_TURN = ("finishReason", "status", "sessionId", "snapshotId", "createdAt")
_MOVED_ON = frozenset({"moved_on"})


def read(record: LogRecord, source: Source, max_depth: int) -> tuple[Reading, ...]:
    """One reading. Raises Unreadable for what is bad."""
    loose = text.peek(record.value or b"")
    if not isinstance(loose, dict):
        raise text.Unreadable("no JSON object")
    try:
        event = text.read(record.value, max_depth)
    except text.Unreadable:
        turn = _turn(loose)
        if turn is not None and turn.get("finishReason") == "interrupted":
            raise
        return (Free(),)
    turn = _turn(event)
    if turn is None:
        if event.get("protocol") is not None:
            raise text.Unreadable("a wrapper around nothing")
        return (Free(),)
    return (_read(event, turn, record, source),)


def _turn(event: Json) -> Json | None:
    """The turn that a record tells of: itself, or the member that holds it."""
    if event.get("finishReason") is not None or event.get("finish_reason") is not None:
        return event
    named = (event.get(name) for name in ("output", "snapshot", "result"))
    return next((turn for turn in named if isinstance(turn, dict)), None)


def _read(event: Json, turn: Json, record: LogRecord, source: Source) -> Reading:
    reason = turn.get("finishReason")
    if reason is not None:
        check_texts(turn, *_TURN)
    if reason == "interrupted":
        return _paused(event, turn, record, source) if _completed(turn) else Free()
    if reason in _WENT_ON:
        return _went(event, turn, record, source) if _completed(turn) else Free()
    for name in ("finishReason", "finish_reason"):
        if re.sub(r"[\W_]", "", str(turn.get(name) or "")).lower().startswith("interrupt"):
            raise text.Unreadable("spells interrupted in another way")
    return Free()


def _completed(turn: Json) -> bool:
    status = turn.get("status")
    if status not in (*_COMPLETED, *_INCOMPLETE):
        raise text.Unreadable("no status of a snapshot")
    return status in _COMPLETED


def _went(event: Json, turn: Json, record: LogRecord, source: Source) -> Reading:
    thread = _thread(event, turn, record, source)
    if thread is None:
        return Free()
    created = turn.get("createdAt")
    at = record.timestamp if created is None else text.instant(created)
    at = None if at is None else min(at, record.timestamp)
    return Went(thread, _MOVED_ON, _agent(event, source), None, at, surely=at is not None)


def _paused(event: Json, turn: Json, record: LogRecord, source: Source) -> Reading:
    requests = list(_requests(turn))
    pending = [request for request in requests if request["pending"]]
    if not pending:
        raise text.Unreadable("interrupted by nothing")
    thread = _thread(event, turn, record, source)
    if thread is None:
        raise text.Unreadable("no session")
    server = _management(event, turn, source) == "server"
    if server and not turn.get("snapshotId"):
        raise text.Unreadable("no snapshot")
    state = turn.get("state")
    if not server and not (isinstance(state, dict) and isinstance(state.get("messages"), list)):
        raise text.Unreadable("no state")
    run = turn["snapshotId"] if server else None
    runtime = str(event.get("runtime") or source.options.get("runtime"))
    siblings = _siblings(requests, runtime)
    return Asked(
        thread,
        run,
        tuple(_questions(requests, runtime, source)),
        [[request[name] for name in _WEIGHED] for request in pending],
        _agent(event, source),
        native={
            "init": {"sessionId": thread, "snapshotId": run} if server else {"state": state},
            "siblings": siblings,
        },
    )


# --- Whose turn -----------------------------------------------------------------------------------


def _agent(event: Json, source: Source) -> str:
    return str(event.get("agent") or source.options.get("agent") or "")


def _management(event: Json, turn: Json, source: Source) -> str:
    said = event.get("stateManagement")
    if said not in (None, "server", "client"):
        raise text.Unreadable("nobody's way to keep state")
    default = "server" if turn.get("snapshotId") else "client"
    return str(said or source.options.get("state_management") or default)


def _thread(event: Json, turn: Json, record: LogRecord, source: Source) -> str | None:
    if event.get("protocol") not in (None, "genkit"):
        raise text.Unreadable("another protocol")
    check_texts(event, "agent", "sessionId", "runtime", "stateManagement")
    state = turn.get("state")
    own = turn.get("sessionId") or (state.get("sessionId") if isinstance(state, dict) else None)
    if _management(event, turn, source) == "server":
        return own or event.get("sessionId") or None
    key = (record.key or b"").decode(errors="replace")
    return event.get("sessionId") or own or key or None


# --- What it asks ---------------------------------------------------------------------------------

_WEIGHED = ("index", "name", "ref", "input", "interrupt")


def _requests(turn: Json) -> Iterator[dict[str, Any]]:
    """The tool requests of the newest model message."""
    newest, state = turn.get("message"), turn.get("state")
    if not (isinstance(newest, dict) and newest.get("role") == "model"):
        messages = state.get("messages") if isinstance(state, dict) else None
        listed = messages if isinstance(messages, list) else []
        models = [m for m in listed if isinstance(m, dict) and m.get("role") == "model"]
        newest = models[-1] if models else {}
    content = newest.get("content")
    for index, part in enumerate(content if isinstance(content, list) else ()):
        if not isinstance(part, dict):
            raise text.Unreadable("a part that is no object")
        asked = part.get("toolRequest")
        if asked is None:
            continue
        marks = part.get("metadata") or {}
        if not (isinstance(asked, dict) and isinstance(marks, dict) and is_text(asked.get("name"))):
            raise text.Unreadable("a tool request without a name")
        check_texts(asked, "ref")
        settled = "pendingOutput" in marks or marks.get("resolvedInterrupt") is not None
        yield {
            **{"index": text.Number(index), "name": asked["name"], "ref": asked.get("ref")},
            **{"input": asked.get("input"), "interrupt": marks.get("interrupt"), "asked": asked},
            **{"marks": marks, "pending": _truthy(marks.get("interrupt")) and not settled},
        }


def _questions(
    requests: Sequence[dict[str, Any]], runtime: str, source: Source
) -> Iterator[Question]:
    """Requests that nothing distinguishes are one question, under the first that waits."""
    groups: dict[Any, list[dict[str, Any]]] = {}
    for request in requests:
        groups.setdefault(_key(request, runtime), []).append(request)
    for group in groups.values():
        pending = [request for request in group if request["pending"]]
        if pending:
            yield _question(pending[0], runtime, source, ambiguous=len(group) > 1)


def _question(
    request: dict[str, Any], runtime: str, source: Source, *, ambiguous: bool
) -> Question:
    tools = source.options.get("tools") or {}
    tool = tools.get(request["name"]) or tools.get("*") or {}
    raised_by, asks = request["marks"].get("interruptedBy"), request["interrupt"]
    says = str(asks.get("message")) if isinstance(asks, dict) else ""
    held = says.startswith(_HELD) if raised_by is None else raised_by == TOOL_APPROVAL
    held = held and not ambiguous
    shown: dict[str, Any] = {"reason": "tool_approval" if held else "tool_interrupt"}
    shown["tool_call_id"] = request["ref"] or None
    if ambiguous:
        shown["actions"] = ["respond"]
    elif raised_by is not None or held or tool.get("action") == "restart":
        shown["actions"] = ["restart", "respond"]
    elif tool.get("action") == "respond":
        shown["actions"] = ["respond"]  # of a tool nobody configured the bridge says what it takes
    decides = held and raised_by is not None and runtime not in ("js", "py")
    refusal = None if tool.get("refusal") is None else _as_read(tool["refusal"])
    native = {"asked": request["asked"], "held": held, "decides": decides, "refusal": refusal}
    return Question(None, shown, {name: request[name] for name in _WEIGHED}, native)


def _key(request: Json, runtime: str) -> tuple[str, Any]:
    """To JavaScript and Python an absent ref and an empty one are different."""
    exact = runtime in ("js", "py")
    return request["name"], request["ref"] if exact else request["ref"] or ""


def _siblings(requests: Sequence[dict[str, Any]], runtime: str) -> list[list[Any]]:
    """(name, ref, output) of calls that ran already where the runtime might not see it."""
    asked = {_key(request, runtime) for request in requests if request["pending"]}
    found = []
    for request in requests:
        marks, is_exact = request["marks"], runtime in ("go", "py")
        settled = "pendingOutput" in marks and (is_exact or _truthy(marks["pendingOutput"]))
        if request["pending"] or settled:
            continue
        if "pendingOutput" not in marks and (
            is_exact or marks.get("resolvedInterrupt") is not None
        ):
            raise text.Unreadable("a tool request that neither waits nor ran")
        if _key(request, runtime) not in asked:
            found.append([request["asked"], marks.get("pendingOutput")])
    return found


def _truthy(value: Any) -> bool:
    """Truth as in JavaScript: empty objects and arrays are true."""
    if isinstance(value, text.Number):
        return float(value) != 0
    return bool(value) or isinstance(value, dict | list)


def _as_read(value: Any) -> Any:
    """A setting, as a record would hold it."""
    return text.read(json.dumps(value).encode(), 1_000)
