"""What had to come about, held against what the topics say.

Pure: replies and endings are what the story expects, records are what was read back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.demo.cast import Agent, Reply
from bridge.demo.check.log import LogRecord, Role

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
class Outcome:
    """One expectation; `text` says what was expected and what was found."""

    text: str
    happened: bool


def outcomes(
    replies: Iterable[Reply], endings: Sequence[Ending], records: Sequence[LogRecord]
) -> Iterator[Outcome]:
    """One verdict for each reply, one command for each ending, and no command beside."""
    verdicts = list(_bodies(records, "answer-verdicts"))
    for reply in replies:
        yield _judged(reply, verdicts)
    commands = list(_bodies(records, "resume-commands"))
    for ending in endings:
        yield _ended(ending, commands)
    wanted, found = len(endings), len(commands)
    yield Outcome(f"{wanted} resume commands expected, {found} found", wanted == found)


def _judged(reply: Reply, verdicts: Iterable[Mapping[str, Any]]) -> Outcome:
    found = [each["verdict"] for each in verdicts if each["answer_id"] == reply.answer_id]
    text = f"answer {reply.answer_id}: {reply.verdict} expected, found {_listed(found)}"
    return Outcome(text, found == [reply.verdict])


def _ended(ending: Ending, commands: Iterable[Mapping[str, Any]]) -> Outcome:
    wanted = f"{ending.completed_by} with {', '.join(ending.statuses)}"
    found = [
        f"{each['completed_by']} with {', '.join(entry['status'] for entry in each['entries'])}"
        for each in commands
        if (each["source"], each["thread_id"], each["run_id"]) == ending.run
    ]
    text = f"run {ending.run_id} of {ending.agent.name}: {wanted} expected, found {_listed(found)}"
    return Outcome(text, found == [wanted])


def _bodies(records: Iterable[LogRecord], role: Role) -> Iterator[Mapping[str, Any]]:
    return (json.loads(each.value) for each in records if each.role == role and each.value)


def _listed(found: Sequence[str]) -> str:
    return " and ".join(found) or "none"
