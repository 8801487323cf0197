"""The history of a thread: which records of the topics belong to it, and what each says in a line.

Records are matched by what they name, not by their key alone, since keys may be anything.
"""

from __future__ import annotations

from collections.abc import Mapping
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
from bridge.records import (
    Answer,
    AnswerVerdict,
    Approval,
    DeadLetter,
    NotARecord,
    Operation,
    ResumeCommand,
    decode,
)

Said = Approval | Answer | Operation | AnswerVerdict | ResumeCommand | DeadLetter

KINDS: Mapping[str, type[Any]] = {
    "approvals": Approval,
    "answers": Answer,
    "operations": Operation,
    "answer-verdicts": AnswerVerdict,
    "resume-commands": ResumeCommand,
}
"""What stands on the bridge's topics, by role."""

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
        threads = [event.thread for event in reading.inputs if not isinstance(event, Tick)]
        named = self._thread_id in (thread.thread_id for thread in threads if thread is not None)
        if not named and not self._named_by(inner):
            return None
        if reading.refusal is not None:
            return Happened("input", record, f"refused: {reading.refusal.reason}")
        said = [text for each in reading.inputs if (text := self._input(each))]
        text = "; ".join(said) or str(members(inner).get("type", "read past"))
        return Happened("input", record, text)

    def own(self, record: Record, role: str) -> Happened | None:
        """A record of one of the bridge's topics, if it is about the thread.

        One that cannot be read as what stands there belongs to what it names.
        """
        inner = bare(record).record
        if role == "dead-letters":
            return self._dead_letter(record, inner)
        try:
            said = decode(KINDS[role], inner)
        except NotARecord as error:
            return Happened(role, record, str(error)) if self._is_mine(members(inner)) else None
        if said is None or not self._is_mine(msgspec.structs.asdict(said)):
            return None
        if isinstance(said, Approval):
            self._approvals.add(said.approval_id)
        return Happened(role, record, summary(said))

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

    def _is_mine(self, found: Mapping[str, Any]) -> bool:
        if found.get("approval_id") in self._approvals:
            return True
        return found.get("thread_id") == self._thread_id and (
            self._source in (None, found.get("source"))
        )

    def _dead_letter(self, record: Record, inner: Record) -> Happened | None:
        mine = self._is_mine(members(inner)) or self._named_by(record)
        try:
            letter = decode(DeadLetter, record)
        except NotARecord as error:
            return Happened("dead-letters", record, str(error)) if mine else None
        if not mine or (self._source is not None and letter.source not in ("", self._source)):
            return None
        return Happened("dead-letters", record, summary(letter))

    def _named_by(self, record: Record) -> bool:
        """By its key or its first level: how even a refused event names its thread."""
        if record.key == self._thread_id.encode():
            return True
        found = members(record)
        return self._thread_id in (found.get("threadId"), found.get("thread_id"))


def members(record: Record) -> Mapping[str, Any]:
    """The JSON object of an agent's event, or of what is no record; empty where it is none."""
    try:
        found = msgspec.json.decode(record.value or b"")
    except (msgspec.DecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def summary(said: Said) -> str:
    """What a record says, in a line."""
    match said:
        case Approval():
            more = {
                "subagent_run_id": said.subagent_run_id,
                "closed_reason": said.closed_reason,
                "run_outcome": said.run_outcome,
            }
            text = "".join(f", {name} {value}" for name, value in more.items() if value)
            return f"{said.interrupt_id} {said.status}, revision {said.revision}{text}"
        case Answer():
            by = f" by {said.answered_by}" if said.answered_by else ""
            return f"{said.status} for {said.interrupt_id or said.approval_id}{by}"
        case Operation():
            by = f" by {said.by}" if said.by else ""
            return f"{said.op}{by}: {said.reason or 'no reason given'}"
        case AnswerVerdict():
            named = said.interrupt_id or said.approval_id or said.answer_id
            problems = "".join(f"; {each.path}: {each.message}" for each in said.problems)
            return f"{said.verdict} for {named}{problems}"
        case ResumeCommand():
            return (
                f"resume {said.run_id} as {said.resume_run_id}: {len(said.entries)} entries, "
                f"completed by {said.completed_by}"
            )
        case DeadLetter():
            at = f" at {said.detail}" if said.detail else ""
            return f"{said.reason}{at}, from {said.origin}"
