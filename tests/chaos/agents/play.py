"""A play: one interrupted run as its agent writes it, and what people may answer.

Whoever draws and sends plays knows this and no protocol. All of a play comes from what was drawn
and from the moment it is asked at, so a seed gives the same play again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple, Protocol

from tests.chaos.agents.source import Source

Moment = int  # milliseconds since the epoch
Follows = str  # what the thread did before: "nothing", "a closed run" or "an open run"
Telling = Callable[[Moment], bytes]
"""A record that is written later than the question, given the moment it is written at."""


class Given(NamedTuple):
    """What an answer gives: its payload as JSON text, and further members of its record."""

    payload: str
    members: Mapping[str, Any] = {}


class Question(NamedTuple):
    """`valid` are two different answers; `invalid` breaks what is asked for, where that can be."""

    interrupt_id: str
    valid: tuple[Given, Given]
    invalid: Given | None = None


@dataclass(frozen=True, slots=True)
class Play:
    """`asking` are the records that ask, in order; `repeat` says the last of them once more, and
    `conflict` something else under its ids; `noise` changes nothing. `turns` are what else its
    agent may write, and `continued` what it writes once our command was carried out. `by_key`: that
    its records have the thread for their key is what makes them one run.
    """

    run: str
    questions: tuple[Question, ...]
    asking: tuple[bytes, ...]
    repeat: bytes
    conflict: bytes | None = None
    noise: tuple[bytes, ...] = ()
    turns: Mapping[str, Telling] = field(default_factory=dict)
    continued: Telling | None = None
    by_key: bool = False


class Ask(Protocol):
    """One drawn run, not yet asked. Equal draws are equal."""

    @property
    def count(self) -> int:
        """How many questions it has."""

    @property
    def waits(self) -> tuple[bool, ...]:
        """Of each question, whether it stays open for ever when nobody answers."""

    @property
    def is_answerable(self) -> bool:
        """Whether anything but giving up settles it here."""

    def play(self, asked_at: Moment, expires: Sequence[Moment | None]) -> Play:
        """The run as it is asked then; `expires` where a question can say so itself."""


class Agent(Protocol):
    """Agents of one source. `turns` are weights of what they do to a run of theirs that waits;
    after one of `ends` a thread is over.
    """

    source: Source
    turns: Mapping[str, int]
    ends: frozenset[str]

    def draw(self, chance: Random, thread: str, run: str, follows: Follows) -> Ask:
        """What a run of the thread asks."""

    def bad(self, chance: Random, thread: str) -> bytes | None:
        """One of the ways in which a record of the input topic is of no use."""


def packed(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
