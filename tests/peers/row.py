"""One peer's line of the result: its versions, and what came of each case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tests.peers.peer import Peer
from tests.peers.record.tape import Exchange

Came = Literal["ok", "failed", "cannot"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case: problems where it failed, with the end of the program's stderr."""

    came: Came
    problems: tuple[str, ...] = ()
    tail: str = ""
    seconds: float = 0.0


@dataclass(slots=True)
class Row:
    """A peer and its outcomes by case. Versions are what its program reported."""

    peer: Peer
    versions: Mapping[str, str] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    said: dict[str, list[Exchange]] = field(default_factory=dict)  # by case

    @property
    def ok(self) -> bool:
        return all(outcome.came != "failed" for outcome in self.outcomes.values())
