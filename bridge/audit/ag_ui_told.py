"""AG-UI's older questions, read naively: `CUSTOM on_interrupt`, and the body that answers it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bridge.audit import text
from bridge.audit.readings import Json, Question, is_text

_SNAKE = {
    "toolCallId": "tool_call_id",
    "expiresAt": "expires_at",
    "responseSchema": "response_schema",
}


def question_of(event: dict[str, Any], options: Mapping[str, Any]) -> Question:
    """What it asks; the id is None where the agent gave none."""
    value, raw = _inside(event.get("value")), event.get("rawEvent")
    members = value if isinstance(value, dict) else {}
    given = raw.get("id") if isinstance(raw, dict) else None
    if is_text(given):
        return _asked(given, value, {"parsed": True, "refusal": options.get("legacy_refusal")})
    if members.get("type") == "mastra_suspend":
        return _mastra(members)
    if is_text(members.get("id")) and is_text(members.get("reason")):
        whole = _shown(members) | {"metadata": members.get("metadata")}
        return Question(members["id"], whole)
    return _asked(None, value, {"parsed": False, "refusal": options.get("legacy_refusal")})


def _asked(interrupt: str | None, value: Any, native: Json) -> Question:
    members = value if isinstance(value, dict) else {}
    shown = _shown(members) | {"metadata": {"on_interrupt": value}}
    shown["reason"] = shown["reason"] or "on_interrupt"
    if is_text(value):
        shown["message"] = value
    return Question(interrupt, shown, native=native)


def _mastra(members: dict[str, Any]) -> Question:
    schema = _inside(members.get("resumeSchema"))
    shown = {
        "reason": "mastra:tool_suspend",
        "tool_call_id": members.get("toolCallId"),
        "response_schema": schema if isinstance(schema, dict) else None,
        "metadata": {"mastra": members},
    }
    return Question(f"{members.get('runId')}::{members.get('toolCallId')}", shown)


def _shown(members: dict[str, Any]) -> dict[str, Any]:
    def member(name: str) -> Any:
        return members.get(name, members.get(_SNAKE.get(name, "")))

    schema = member("responseSchema")
    texts = {
        "reason": member("reason"),
        "message": member("message"),
        "tool_call_id": member("toolCallId"),
        "expires_at_raw": member("expiresAt"),
    }
    shown = {name: value if is_text(value) else None for name, value in texts.items()}
    return shown | {"response_schema": schema if isinstance(schema, dict) else None}


def _inside(value: Any) -> Any:
    """An object or a list out of the text that it was put into."""
    if not is_text(value) or not value.strip().startswith(("{", "[")):
        return value
    try:
        return text.read(value.encode(), 10_000)
    except text.Unreadable:
        return value


def faults(
    body: Json, questions: Sequence[Question], entries: Sequence[dict[str, Any]]
) -> Iterator[str]:
    """What is wrong with a body that answers these in LangGraph's way."""
    properties = body.get("forwardedProps")
    command = properties.get("command") if isinstance(properties, dict) else None
    sent = command.get("resume") if isinstance(command, dict) else None
    if "resume" in body:
        yield "a list of entries, beside which a command is not read"
    values = [
        entry.get("payload") if entry.get("status") == "resolved" else question.native["refusal"]
        for question, entry in zip(questions, entries, strict=True)
    ]
    meant: Any = values
    if len(values) == 1:
        meant = values[0]
        sent = _as_read(sent) if questions[0].native["parsed"] else sent
    elif all(question.native["parsed"] for question in questions):
        meant = {q.id: value for q, value in zip(questions, values, strict=True)}
    if _plain(sent) != _plain(meant):
        yield "the native body resumes with other answers"


def _as_read(sent: Any) -> Any:
    """A single text as LangGraph's adapters take it."""
    if not is_text(sent):
        return sent
    try:
        return text.read(sent.encode(), 10_000)
    except text.Unreadable:
        return sent


def _plain(value: Any) -> str:
    """Comparable; a refusal is of the settings, with Python's own numbers."""
    return json.dumps(text.plain(value), sort_keys=True, default=str)
