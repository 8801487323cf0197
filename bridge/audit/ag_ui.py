"""A naive reading of AG-UI records: runs that ended with interrupts, and runs that resume."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bridge.audit import text
from bridge.audit.ag_ui_told import question_of
from bridge.audit.log import LogRecord, Source
from bridge.audit.readings import (
    Announced,
    Asked,
    Free,
    Over,
    Question,
    Reading,
    Went,
    is_text,
)

_OPTIONAL_TEXTS = ("message", "toolCallId", "expiresAt", "subagentRunId")
_OPTIONAL_OBJECTS = ("responseSchema", "metadata")
_MEMBERS = ("id", "reason", *_OPTIONAL_TEXTS, *_OPTIONAL_OBJECTS)
_SNAKE = {
    "threadId": "thread_id",
    "runId": "run_id",
    "toolCallId": "tool_call_id",
    "expiresAt": "expires_at",
    "subagentRunId": "subagent_run_id",
    "responseSchema": "response_schema",
}


_COPIED = {
    "reason": "reason",
    "message": "message",
    "toolCallId": "tool_call_id",
    "subagentRunId": "subagent_run_id",
    "expiresAt": "expires_at_raw",
    "responseSchema": "response_schema",
    "metadata": "metadata",
}
_FAILS = frozenset({"run_failed"})
_GOES_ON = frozenset({"moved_on", "resumed_elsewhere"})


def read(record: LogRecord, source: Source, max_depth: int) -> tuple[Reading, ...]:
    """What it means; `source` says whose its events are. Raises Unreadable for what is bad."""
    value = record.value or b""
    loose = text.peek(value)
    if source.enveloped and isinstance(loose, dict) and not loose.get("type"):
        inside = loose.get("event")  # beside the input of its run
        if inside is not None:
            if not (isinstance(inside, dict) and inside.get("type")):
                raise text.Unreadable("an envelope around no event")
            strict = text.read(value, max_depth)["event"] if _concerns(inside) else inside
            value, loose = text.written(strict).encode(errors="surrogatepass"), inside
    if isinstance(loose, dict) and not _concerns(loose):
        over = tuple(_over(loose, record, source))
        ended = over and loose.get("type") == "RUN_FINISHED"
        return over if ended else (*over, _failed(loose, record, source))
    event = text.read(value, max_depth)
    if not isinstance(event, dict):
        raise text.Unreadable("not an object")
    if event.get("type") == "CUSTOM":
        return (_told(event, record, source),)
    if event.get("type") == "RUN_STARTED":
        return (_started(event, record, source), *_over(event, record, source))
    if event.get("type") != "RUN_FINISHED":
        raise text.Unreadable("misspelt type")
    return (_finished(event, _agent(event, record, source) or ""),)


def _told(event: dict[str, Any], record: LogRecord, source: Source) -> Reading:
    """A question of whatever run is under way on the thread of the key."""
    thread = _member(event, "threadId") or (record.key or b"").decode(errors="replace")
    if not is_text(thread):
        raise text.Unreadable("malformed thread")
    if not thread or source.options.get("legacy") is False:
        return Free()
    return Announced(
        thread, _agent(event, record, source) or "", question_of(event, source.options)
    )


def _over(event: dict[str, Any], record: LogRecord, source: Source) -> Iterator[Reading]:
    """The end of what a run told; only where thread and key are one is it known which run did."""
    kind, key = event.get("type"), (record.key or b"").decode(errors="replace")
    thread, run = _member(event, "threadId"), _member(event, "runId")
    agent = _agent(event, record, source)
    if kind == "RUN_FINISHED" and is_text(thread) and is_text(run):
        ends = thread == key and event.get("outcome") is None
        yield Over(thread, agent or "", run, asks=ends)
        yield Over(key, agent or "")
    elif agent is not None and (kind == "RUN_ERROR" or (kind == "RUN_STARTED" and key == thread)):
        yield Over(key, agent)


def _agent(event: dict[str, Any], record: LogRecord, source: Source) -> str | None:
    """Whose event it is; empty: an agent without a name's, None: it should say it, and does not."""
    fixed, pointer = source.options.get("agent"), source.options.get("agent_pointer")
    named = fixed or (record.header("ag-ui-agent") or b"").decode(errors="replace")
    if named or not pointer:
        return str(named)
    holder: Any = event
    for step in pointer.removeprefix("/").split("/"):
        holder = holder.get(step) if isinstance(holder, dict) else None
    return holder if is_text(holder) and holder else None


def _failed(event: dict[str, Any], record: LogRecord, source: Source) -> Reading:
    """A late error names its thread, or its record's key does; what it closes is policy."""
    thread = _member(event, "threadId") or (record.key or b"").decode(errors="replace")
    agent = _agent(event, record, source)
    if event.get("type") != "RUN_ERROR" or not isinstance(thread, str) or agent is None:
        return Free()
    return Went(thread, _FAILS, agent, surely=False)


def _concerns(event: dict[str, Any]) -> bool:
    """Whether the bridge must judge it: a finished run that may ask, or a run that resumes."""
    kind = event.get("type")
    if kind == "RUN_FINISHED":
        outcome = event.get("outcome")
        quiet = isinstance(outcome, dict) and outcome.get("type") in {"success", "cancelled"}
        return outcome is not None and not (quiet and not (outcome or {}).get("interrupts"))
    if kind == "RUN_STARTED":
        return isinstance(event.get("input"), dict)
    if kind == "CUSTOM":
        return event.get("name") == "on_interrupt"
    folded = "".join(filter(str.isalpha, kind)).lower() if isinstance(kind, str) else ""
    return folded == "runfinished"


def _started(event: dict[str, Any], record: LogRecord, source: Source) -> Reading:
    resume = event["input"].get("resume")
    entries = resume if isinstance(resume, list) else []
    ids = (_member(entry, "interruptId") for entry in entries if isinstance(entry, dict))
    thread = _member(event, "threadId")
    resumes, agent = tuple(filter(is_text, ids)), _agent(event, record, source)
    if not resumes or not is_text(thread) or agent is None:
        return Free()
    return Went(thread, _GOES_ON, agent, resumes=resumes)


def _finished(event: dict[str, Any], agent: str) -> Asked:
    thread, run = _member(event, "threadId"), _member(event, "runId")
    if not _plausible(event):
        raise text.Unreadable("malformed envelope")
    if not (is_text(thread) and is_text(run)):
        raise text.Unreadable("no identity")
    items: list[dict[str, Any]] = []
    for item in _listed(event["outcome"]):
        values = ((name, _member(item, name)) for name in _MEMBERS)
        members = {name: value for name, value in values if value is not None}
        if not any(text.same(members, earlier) for earlier in items):
            items.append(members)
    if len({item["id"] for item in items}) != len(items):
        raise text.Unreadable("two interrupts with one id")
    questions = tuple(
        Question(item["id"], {ours: item.get(theirs) for theirs, ours in _COPIED.items()})
        for item in items
    )
    return Asked(thread, run, questions, items, agent)


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
        and is_text(item.get("id"))
        and is_text(item.get("reason"))
        and all(
            _member(item, name) is None or is_text(_member(item, name)) for name in _OPTIONAL_TEXTS
        )
        and all(isinstance(_member(item, name), dict | type(None)) for name in _OPTIONAL_OBJECTS)
    )


def _member(holder: dict[str, Any], name: str) -> Any:
    """The member by its camelCase name, else by the snake_case one that Python producers leak."""
    value = holder.get(name)
    return holder.get(_SNAKE[name]) if value is None and name in _SNAKE else value
