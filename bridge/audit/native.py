"""The native body of a command against its entries: each answered value, for its own question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bridge.audit import a2a_body, ag_ui_told, genkit_body, text
from bridge.audit.asked import RunKey
from bridge.audit.readings import Json, Question, Settled
from bridge.audit.story import Life, Output, Story


def faults(
    story: Story,
    key: RunKey,
    command: Output,
    entries: Sequence[dict[str, Any]],
    lives: Sequence[Life],
) -> Iterator[str]:
    """What is wrong with what an executor would send."""
    native = command.body.get("native")
    body = native.get("body") if isinstance(native, dict) else None
    if not isinstance(native, dict) or not isinstance(body, dict):
        yield "a command without a body to send"
        return
    asked = story.opener(list(lives))
    if command.body.get("protocol") == "ag-ui":
        questions = () if asked is None else asked.questions
        yield from _run_agent_input(key, command, body, entries, questions)
        return
    if asked is None or len(asked.questions) != len(entries):
        return  # I4 names it
    settled = []
    for question, entry, life in zip(asked.questions, entries, lives, strict=True):
        approval = life.last.body
        accepted = story.accepted(str(approval.get("approval_id")))
        answer = accepted[0].body if accepted else {}
        offered = approval.get("actions") or [None]
        settled.append(Settled(question, entry, answer, answer.get("action") or offered[0]))
    if command.body.get("protocol") == "a2a":
        yield from a2a_body.faults(key[2], command.body, native, asked, settled)
    else:
        yield from genkit_body.faults(native, asked, settled)


def _run_agent_input(
    key: RunKey,
    command: Output,
    body: Json,
    entries: Sequence[dict[str, Any]],
    questions: Sequence[Question],
) -> Iterator[str]:
    if (body.get("threadId"), body.get("runId")) != (key[2], command.body.get("resume_run_id")):
        yield "a native body for another thread or run"
    if len(questions) == len(entries) and any(question.native for question in questions):
        yield from ag_ui_told.faults(body, questions, entries)
        return
    sent = [
        (item.get("interruptId"), item.get("status"), text.written(item.get("payload")))
        for item in body.get("resume") or []
    ]
    meant = [
        (entry.get("interrupt_id"), entry.get("status"), text.written(entry.get("payload")))
        for entry in entries
    ]
    if sent != meant:
        yield "the native body resumes with other entries"
