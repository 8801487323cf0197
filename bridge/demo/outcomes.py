"""What had to come about, held against what the topics say.

Pure: replies and endings are what the story expects, records are what was read back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.audit.log import LogRecord, Role
from bridge.demo.agent import Agent
from bridge.demo.cast import Reply

Run = tuple[str, str, str]  # source, thread, run


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run must end: its command's `completed_by`, and the entries' statuses."""

    agent: Agent
    run_id: str
    completed_by: str
    statuses: tuple[str, ...]

    @property
    def run(self) -> Run:
        return (self.agent.name, self.agent.thread_id, self.run_id)


@dataclass(frozen=True, slots=True)
class Passing:
    """A run that must close by itself for this reason, without a command."""

    agent: Agent
    run_id: str
    reason: str

    @property
    def run(self) -> Run:
        return (self.agent.name, self.agent.thread_id, self.run_id)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One expectation; `text` says what was expected and what was found."""

    text: str
    happened: bool


def outcomes(
    replies: Iterable[Reply],
    endings: Sequence[Ending],
    passings: Iterable[Passing],
    records: Sequence[LogRecord],
) -> Iterator[Outcome]:
    """One verdict for each reply, one command for each ending and none beside, no more passings."""
    verdicts = list(_bodies(records, "answer-verdicts"))
    for reply in replies:
        found = [each["verdict"] for each in verdicts if each["answer_id"] == reply.answer_id]
        text = f"answer {reply.answer_id}: {reply.verdict} expected, found {_listed(found)}"
        yield Outcome(text, found == [reply.verdict])
    commands = list(_bodies(records, "resume-commands"))
    for ending in endings:
        method = ending.agent.method(ending.statuses)
        wanted = f"{method}, {ending.completed_by} with {', '.join(ending.statuses)}"
        found = []
        for each in commands:
            if _run_of(each) == ending.run:
                statuses = ", ".join(entry["status"] for entry in each["entries"])
                how = f"{each['native']['method']}, {each['completed_by']}"
                found.append(f"{how} with {statuses}")
        run = f"run {ending.run_id} of {ending.agent.name}"
        yield Outcome(f"{run}: {wanted} expected, found {_listed(found)}", found == [wanted])
    approvals = list(_bodies(records, "approvals"))
    for passing in passings:
        found = [
            f"{each['run_outcome']} as {each['closed_reason']}"
            for each in approvals
            if _run_of(each) == passing.run and "run_outcome" in each
        ]
        wanted = f"withdrawn as {passing.reason}"
        run = f"run {passing.run_id} of {passing.agent.name}"
        text = f"{run}: {wanted} expected, found {_listed(found)}"
        yield Outcome(text, set(found) == {wanted})
    text = f"{len(endings)} resume commands expected, {len(commands)} found"
    yield Outcome(text, len(endings) == len(commands))


def _run_of(body: Mapping[str, Any]) -> Run:
    return (body["source"], body["thread_id"], body["run_id"])


def _bodies(records: Iterable[LogRecord], role: Role) -> Iterator[Mapping[str, Any]]:
    return (json.loads(each.value) for each in records if each.role == role and each.value)


def _listed(found: Sequence[str]) -> str:
    return " and ".join(found) or "none"
