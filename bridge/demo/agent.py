"""An agent in one conversation, in the words that the story needs, and one that speaks AG-UI."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from bridge.records import ResumeCommand

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Agent(ABC):
    """`name` is its source, `run_id` the run that asks first, `scope` as in its questions' ids.

    `interrupts` are its questions as its protocol writes them, `options` the source's in TOML.
    """

    protocol: ClassVar[str]
    answers_at: ClassVar[tuple[str, ...]]
    """Where the answers stand in the body of its resume command."""

    name: str
    framework: str
    thread_id: str
    run_id: str
    interrupts: tuple[Json, ...]
    scope: str = ""
    options: str = ""

    @abstractmethod
    def starts(self, run_id: str) -> bytes | None:
        """The event with which a run begins, if it has one."""

    @abstractmethod
    def asks(self, run_id: str) -> bytes:
        """The event with the questions of that run."""

    @abstractmethod
    def goes_on(self, command: ResumeCommand) -> bytes | None:
        """The event with which it goes on by a resume command, if it has one."""

    @abstractmethod
    def ends(self, command: ResumeCommand) -> bytes | None:
        """The event with which the work that a command resumed is done, if one is due."""

    @abstractmethod
    def method(self, statuses: Sequence[str]) -> str:
        """What its resume command calls, by the statuses of the entries."""

    @abstractmethod
    def interrupt_id(self, run_id: str, index: int) -> str | None:
        """The id of a question; None where only the bridge makes one."""

    def asked(self, run_id: str) -> int:
        """How many questions that run has."""
        return len(self.interrupts)


class AgUiAgent(Agent):
    """A run's end has interrupts as its outcome."""

    __slots__ = ()
    protocol: ClassVar[str] = "ag-ui"
    answers_at: ClassVar[tuple[str, ...]] = ("resume",)

    def starts(self, run_id: str) -> bytes:
        """As `Agent` says."""
        return self._event("RUN_STARTED", run_id, protocolVersion="1.0")

    def asks(self, run_id: str) -> bytes:
        """As `Agent` says."""
        outcome = {"type": "interrupt", "interrupts": self.interrupts}
        return self._event("RUN_FINISHED", run_id, outcome=outcome)

    def goes_on(self, command: ResumeCommand) -> bytes:
        """As `Agent` says."""
        body = msgspec.json.decode(command.native.body)
        return self._event("RUN_STARTED", command.resume_run_id, input=body)

    def ends(self, command: ResumeCommand) -> bytes:
        """As `Agent` says."""
        return self._event("RUN_FINISHED", command.resume_run_id, outcome={"type": "success"})

    def method(self, statuses: Sequence[str]) -> str:
        """As `Agent` says."""
        return "run"

    def interrupt_id(self, run_id: str, index: int) -> str:
        """As `Agent` says."""
        return str(self.interrupts[index]["id"])

    def _event(self, kind: str, run_id: str, **more: Any) -> bytes:
        event = {"type": kind, "threadId": self.thread_id, "runId": run_id, **more}
        return encoded({**event, "timestamp": time.time_ns() // 1_000_000})


def encoded(event: Json) -> bytes:
    """The value of a record."""
    return json.dumps(event, ensure_ascii=False).encode()
