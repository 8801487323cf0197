"""The request that moves an A2A task on: one message with every answer, or the task's end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bridge.audit import a2a_kagent, text
from bridge.audit.a2a_items import URIS
from bridge.audit.readings import Asked, Json, Settled, is_text

_SEND = ("SendMessage", "message/send")
_CANCEL = ("CancelTask", "tasks/cancel")


def faults(
    task: str, command: Json, native: Json, asked: Asked, settled: Sequence[Settled]
) -> Iterator[str]:
    """`native` is the command's, ready to send; JSON-RPC has its parameters in an envelope."""
    body = native["body"]
    params = body.get("params") if "jsonrpc" in body else body
    # kagent's tools are answered with a no, and their task goes on.
    has_a_no = all(_shape(one) == a2a_kagent.TOOL for one in settled)
    given_up = any(one.entry.get("status") == "cancelled" for one in settled)
    if not isinstance(params, dict):
        yield "a request without parameters"
    elif given_up and not has_a_no:
        yield from _cancels(task, native, params, settled)
    elif native.get("method") not in _SEND:
        yield "an answered task is not sent its answers"
    else:
        yield from _answers(task, command, params.get("message") or {}, asked, settled)


def _cancels(task: str, native: Json, params: Json, settled: Sequence[Settled]) -> Iterator[str]:
    if native.get("method") not in _CANCEL or "message" in params:
        yield "a task that was given up is not cancelled"
    if params.get("id") != task:
        yield "another task is cancelled"
    if any(one.entry.get("status") != "cancelled" for one in settled):
        yield "answers of a cancelled task are sent as resolved"


def _answers(
    task: str, command: Json, message: Json, asked: Asked, settled: Sequence[Settled]
) -> Iterator[str]:
    names = (message.get("messageId"), message.get("taskId"), message.get("contextId"))
    if names != (command.get("resume_run_id"), task, asked.native.get("context")):
        yield "a message of another id, task or context"
    listed = message.get("parts") if "parts" in message else message.get("content")
    is_boxed = "content" in message
    sent = [_said(part, is_boxed) for part in listed] if isinstance(listed, list) else []
    by_graph = [one for one in settled if _shape(one) == "langgraph"]
    by_kagent = [one for one in settled if _shape(one) in a2a_kagent.SHAPES]
    elsewhere = {"langgraph", *URIS, *a2a_kagent.SHAPES}
    in_parts = [one for one in settled if _shape(one) not in elsewhere]
    if len(sent) != bool(by_graph) + len(in_parts):
        yield "a message with more or fewer answers than questions"
        return
    if by_graph:  # by id, or by the bare value where only one was asked
        by_id = {str(one.entry.get("interrupt_id")): one.payload for one in by_graph}
        meant = [by_id, by_graph[0].payload] if len(by_graph) == 1 else [by_id]
        part = sent.pop(0)
        if not any(text.alike(part, {"data": {"resume": values}}) for values in meant):
            yield "a graph is resumed with other values"
    if not all(_answered(part, one) for part, one in zip(sent, in_parts, strict=True)):
        yield "a message with other answers than were given"
    marks = dict(message.get("metadata") or {})
    if by_kagent and not a2a_kagent.answers(message, marks.pop(a2a_kagent.URI, None), by_kagent):
        yield "kagent's extension is answered in another way than was given"
    decided = [
        (marks.get(URIS[_shape(one)]), one.payload) for one in settled if _shape(one) in URIS
    ]
    if len(marks) != len(decided) or not all(text.alike(*pair) for pair in decided):
        yield "a message with another decision than was given"


def _said(part: Any, is_boxed: bool) -> Json:
    """The members of a part that say something."""
    said = {name: part[name] for name in ("text", "data", "metadata") if name in part}
    if is_boxed and isinstance(said.get("data"), dict):
        said["data"] = said["data"].get("data")
    return said


def _shape(one: Settled) -> str:
    return str(one.question.native["shape"])


def _answered(part: Json, one: Settled) -> bool:
    id_, payload = one.entry.get("interrupt_id"), one.payload
    match _shape(one):
        case "text":
            return _as_text(part, payload)
        case "adk":
            given = payload if isinstance(payload, dict) else {"result": payload}
            name = one.question.native.get("name")
            said = {"id": id_, "response": given} | ({} if name is None else {"name": name})
            marks = dict.fromkeys(one.question.native.get("marks", ()), "function_response")
            return text.alike(part, {"data": said, "metadata": marks})
        case "strands":
            answer = {"interruptId": id_, "response": payload}
            return text.alike(part, {"data": {"interruptResponse": answer}})
        case "action":
            return text.alike(part, {"data": {"action_id": id_, "confirmed": payload}})
        case _:
            return _as_text(part, payload) or text.alike(part, {"data": payload})


def _as_text(part: Json, payload: Any) -> bool:
    """The string itself, or the text of any other value; nothing said is empty."""
    said = part.get("text")
    if set(part) != {"text"} or payload is None or is_text(payload):
        return set(part) == {"text"} and said == (payload or "")
    return text.alike(text.read(str(said).encode(), 1_000), payload)
