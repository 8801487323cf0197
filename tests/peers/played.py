"""What happened in one case with one peer: the material that is judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.peers.observed import Command, Members, Run


@dataclass(slots=True)
class Turn:
    """One interrupted run: what it asked, the command that continued it, what the program said."""

    run: Run
    asked: list[Members]  # the approvals, pending, in the order of the run
    given: list[Mapping[str, Any]] = field(default_factory=list)  # expected entries, in that order
    command: Command | None = None
    reply: Mapping[str, Any] | None = None
    elsewhere: bool = False  # it went on without a command, because somebody signed in


@dataclass(slots=True)
class Played:
    """A case as far as it came. `trouble` says what did not come; None when all did."""

    case: str
    turns: list[Turn] = field(default_factory=list)
    origins: set[str] = field(default_factory=set)  # where the program's records stand
    trouble: str | None = None
    seconds: float = 0.0
