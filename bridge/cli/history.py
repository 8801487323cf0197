"""The history of a thread: which records of the topics belong to it, and what each says in a line.

Records are matched by what they name, not by their key alone, since keys may be anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from bridge.core.model import (
    Announced,
    Input,
    Interrupted,
    Limits,
    ResumeAnswered,
    ResumeSeen,
    RunFailed,
    RunStarted,
    ThreadEnded,
    ThreadKey,
    Tick,
    WentOn,
)
from bridge.core.record import Record
from bridge.protocols.framing import Pointer, bare
from bridge.protocols.interface import AgentProtocol, Reading

Members = Mapping[str, Any]

ORDER = ("input", "approvals", "answers", "operations", "answer-verdicts", "resume-commands")
"""What came first where two records have one time; dead letters come last."""


@dataclass(frozen=True, slots=True)
class Happened:
    """One record of the history. `role` is "input" or the role of one of the bridge's topics."""

    role: str
    record: Record
    summary: str

    @property
    def place(self) -> tuple[int, int, str, int, int]:
        """Sorts by time, then as things follow from one another."""
        origin = self.record.origin
        rank = ORDER.index(self.role) if self.role in ORDER else len(ORDER)
        return origin.timestamp, rank, origin.topic, origin.partition, origin.offset


class History:
    """Give it the approvals first: answers may name nothing but an approval id."""

    def __init__(self, thread_id: str, source: str | None = None) -> None:
        """`source` leaves out threads of the same id that other sources know."""
        self._thread_id = thread_id
        self._source = source
        self._approvals: set[str] = set()
        self._asked: set[ThreadKey] = set()

    def event(
        self,
        record: Record,
        source: str,
        protocol: AgentProtocol,
        limits: Limits,
        pointer: Pointer = (),
    ) -> Happened | None:
        """A record of a run-finished topic, if it is about the thread."""
        if self._source not in (None, source):
            return None
        unframed = bare(record, pointer)
        inner = unframed.record
        if unframed.refusal is not None:
            reading = Reading(refusal=unframed.refusal)
        else:
            reading = Reading() if inner.value is None else protocol.read(inner, source, limits)
        if self._thread_id not in _threads(reading) and not self._named_by(inner):
            return None
        return Happened("input", record, self._told(reading, members(inner)))

    def own(self, record: Record, role: str) -> Happened | None:
        """A record of one of the bridge's topics, if it is about the thread."""
        found = members(bare(record).record)
        if role == "dead-letters":
            mine = self._dead_letter_is_mine(record, found)
            return Happened(role, record, _dead_letter(record)) if mine else None
        if not self._is_mine(found):
            return None
        if role == "approvals":
            self._approvals.add(str(found.get("approval_id")))
        return Happened(role, record, _SUMMARIES[role](found))

    def _told(self, reading: Reading, found: Members) -> str:
        if reading.refusal is not None:
            return f"refused: {reading.refusal.reason}"
        said = [text for event in reading.inputs if (text := self._input(event))]
        return "; ".join(said) or str(found.get("type", "read past"))

    def _input(self, event: Input) -> str | None:
        if isinstance(event, Interrupted):
            self._asked.add(event.thread)
            ids = ", ".join(question.interrupt_id for question in event.questions)
            return f"run {event.run_id} asks {ids}"
        if isinstance(event, Announced):
            question = event.announcement.question
            return f"{question.interrupt_id or 'a question without an id'} is told, to be asked"
        if isinstance(event, RunStarted):
            run, is_known = f"run {event.run_id}", event.thread in self._asked
            return f"the thread goes on by {run}" if is_known else f"{run} starts"
        if isinstance(event, ResumeAnswered | ResumeSeen | WentOn | ThreadEnded):
            by = f" by run {event.resume_run_id}" if isinstance(event, ResumeAnswered) else ""
            return f"the thread goes on{by}"
        return "the run failed" if isinstance(event, RunFailed) else None

    def _is_mine(self, found: Members) -> bool:
        if found.get("approval_id") in self._approvals:
            return True
        return found.get("thread_id") == self._thread_id and (
            self._source in (None, found.get("source"))
        )

    def _dead_letter_is_mine(self, record: Record, found: Members) -> bool:
        source = _header(record, "bridge-source")
        if self._source is not None and source not in ("", self._source):
            return False
        return self._is_mine(found) or self._named_by(record)

    def _named_by(self, record: Record) -> bool:
        """By its key or its first level: how even a refused event tells its thread."""
        if record.key == self._thread_id.encode():
            return True
        found = members(record)
        return self._thread_id in (found.get("threadId"), found.get("thread_id"))


def members(record: Record) -> Members:
    """The record's JSON object; empty where it is none."""
    try:
        found = msgspec.json.decode(record.value or b"")
    except (msgspec.DecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _threads(reading: Reading) -> set[str]:
    return {
        event.thread.thread_id
        for event in reading.inputs
        if not isinstance(event, Tick) and event.thread is not None
    }


def _approval(found: Members) -> str:
    text = f"{found.get('interrupt_id')} {found.get('status')}, revision {found.get('revision')}"
    for key in ("subagent_run_id", "closed_reason", "run_outcome"):
        if found.get(key):
            text += f", {key} {found[key]}"
    return text


def _answer(found: Members) -> str:
    named = found.get("interrupt_id") or found.get("approval_id")
    by = f" by {found['answered_by']}" if found.get("answered_by") else ""
    return f"{found.get('status')} for {named}{by}"


def _operation(found: Members) -> str:
    by = f" by {found['by']}" if found.get("by") else ""
    return f"{found.get('op')}{by}: {found.get('reason') or 'no reason given'}"


def _verdict(found: Members) -> str:
    named = found.get("interrupt_id") or found.get("approval_id") or found.get("answer_id")
    problems = found.get("problems") or []
    return f"{found.get('verdict')} for {named}" + "".join(
        f"; {problem.get('path')}: {problem.get('message')}" for problem in problems
    )


def _command(found: Members) -> str:
    entries = found.get("entries") or []
    return (
        f"resume {found.get('run_id')} as {found.get('resume_run_id')}: {len(entries)} entries, "
        f"completed by {found.get('completed_by')}"
    )


def _dead_letter(record: Record) -> str:
    whence = "/".join(
        _header(record, f"bridge-origin-{part}") for part in ("topic", "partition", "offset")
    )
    detail = _header(record, "bridge-detail")
    return f"{_header(record, 'bridge-reason')}{f' at {detail}' if detail else ''}, from {whence}"


def _header(record: Record, name: str) -> str:
    """The last header of that name: the bridge's own stand behind the sender's."""
    values = [value for key, value in record.headers if key == name]
    return (values[-1] or b"").decode(errors="replace") if values else ""


_SUMMARIES: Mapping[str, Callable[[Members], str]] = {
    "approvals": _approval,
    "answers": _answer,
    "operations": _operation,
    "answer-verdicts": _verdict,
    "resume-commands": _command,
}
