"""A naive reading of AG-UI records: what was asked, what must be refused, what is nobody's matter.

Where the protocol leaves room the answer is `Free`, so that the checker only insists on what the
published rules settle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bridge.demo.check import text

_OPTIONAL_TEXTS = ("message", "toolCallId", "expiresAt", "subagentRunId")
_OPTIONAL_OBJECTS = ("responseSchema", "metadata")
_SNAKE = {
    "threadId": "thread_id",
    "runId": "run_id",
    "toolCallId": "tool_call_id",
    "expiresAt": "expires_at",
    "subagentRunId": "subagent_run_id",
    "responseSchema": "response_schema",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A run that ended with these interrupts, camelCase members, nulls taken as absent."""

    thread: str
    run: str
    interrupts: tuple[dict[str, Any], ...]

    def same_questions(self, other: Asked) -> bool:
        return text.same(list(self.interrupts), list(other.interrupts))


@dataclass(frozen=True, slots=True)
class Bad:
    """Must go to dead-letters, and nowhere else."""

    why: str


@dataclass(frozen=True, slots=True)
class Free:
    """Asks nothing. Whether it is counted, used as context or refused is left to the bridge."""

    resumes: tuple[str, ...] = ()  # interrupt ids that a RUN_STARTED says it resumes
    thread: str | None = None


Reading = Asked | Bad | Free


def read_event(value: bytes | None, max_depth: int, max_bytes: int) -> Reading:
    """What the record means, decided from its value alone."""
    try:
        return _read(value or b"", max_depth, max_bytes)
    except text.Unreadable as error:
        return Bad(str(error))


def _read(value: bytes, max_depth: int, max_bytes: int) -> Reading:
    if len(value) > max_bytes:
        raise text.Unreadable("too_large")
    loose = text.peek(value)
    if isinstance(loose, dict) and not _concerns(loose):
        return Free()
    event = text.read(value, max_depth)
    if not isinstance(event, dict):
        raise text.Unreadable("not an object")
    if event.get("type") == "RUN_STARTED":
        return _started(event)
    if event.get("type") != "RUN_FINISHED":
        raise text.Unreadable("misspelt type")
    return _finished(event)


def _concerns(event: dict[str, Any]) -> bool:
    """Whether the bridge must judge it: a finished run that may ask, or a run that resumes."""
    kind = event.get("type")
    if kind == "RUN_FINISHED":
        outcome = event.get("outcome")
        quiet = isinstance(outcome, dict) and outcome.get("type") in {"success", "cancelled"}
        return outcome is not None and not (quiet and not (outcome or {}).get("interrupts"))
    if kind == "RUN_STARTED":
        return isinstance(event.get("input"), dict)
    folded = "".join(filter(str.isalpha, kind)).lower() if isinstance(kind, str) else ""
    return folded == "runfinished"


def _started(event: dict[str, Any]) -> Reading:
    resume = event["input"].get("resume")
    entries = resume if isinstance(resume, list) else []
    ids = (_member(entry, "interruptId") for entry in entries if isinstance(entry, dict))
    thread = _member(event, "threadId")
    return Free(tuple(filter(_is_text, ids)), thread if _is_text(thread) else None)


def _finished(event: dict[str, Any]) -> Asked:
    thread, run = _member(event, "threadId"), _member(event, "runId")
    if not _plausible(event):
        raise text.Unreadable("malformed envelope")
    if not (_is_text(thread) and _is_text(run)):
        raise text.Unreadable("no identity")
    questions = tuple(_distinct([_question(item) for item in _listed(event["outcome"])]))
    if len({question["id"] for question in questions}) != len(questions):
        raise text.Unreadable("two interrupts with one id")
    return Asked(thread, run, questions)


def _plausible(event: dict[str, Any]) -> bool:
    """Members that ask nothing, but that released readers refuse in another shape."""
    stamp, usage, metadata = (event.get(name) for name in ("timestamp", "usage", "metadata"))
    counts = [
        value
        for used in (usage if isinstance(usage, list) else [])
        for name, value in (used.items() if isinstance(used, dict) else [("", used)])
        if name not in {"provider", "model"} and value is not None
    ]
    return (
        (stamp is None or text.integer(stamp) is not None)
        and isinstance(metadata, dict | type(None))
        and isinstance(usage, list | type(None))
        and all((text.integer(value) or 0) >= 0 for value in counts)
        and all(text.integer(value) is not None for value in counts)
    )


def _listed(outcome: Any) -> list[dict[str, Any]]:
    if not isinstance(outcome, dict):
        raise text.Unreadable("outcome is not an object")
    if outcome.get("type") != "interrupt":
        known = outcome.get("type") in {"success", "cancelled"}
        raise text.Unreadable("interrupts on another outcome" if known else "unknown outcome")
    listed = outcome.get("interrupts")
    if not isinstance(listed, list) or not listed:
        raise text.Unreadable("no interrupts")
    if not all(_well_formed(item) for item in listed):
        raise text.Unreadable("malformed interrupt")
    return listed


def _well_formed(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and _is_text(item.get("id"))
        and _is_text(item.get("reason"))
        and all(
            _member(item, name) is None or _is_text(_member(item, name)) for name in _OPTIONAL_TEXTS
        )
        and all(isinstance(_member(item, name), dict | type(None)) for name in _OPTIONAL_OBJECTS)
    )


def _question(item: dict[str, Any]) -> dict[str, Any]:
    names = ("id", "reason", *_OPTIONAL_TEXTS, *_OPTIONAL_OBJECTS)
    values = ((name, _member(item, name)) for name in names)
    return {name: value for name, value in values if value is not None}


def _distinct(questions: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for place, question in enumerate(questions):
        if not any(text.same(question, earlier) for earlier in questions[:place]):
            yield question


def _member(holder: dict[str, Any], name: str) -> Any:
    """The member by its camelCase name, else by the snake_case one that Python producers leak."""
    value = holder.get(name)
    return holder.get(_SNAKE[name]) if value is None and name in _SNAKE else value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, text.Number)
