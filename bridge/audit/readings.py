"""What an input record can say, in words that all protocols share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bridge.audit import text

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that is asked.

    `id` is None where the bridge makes it. `shown` are members of its approval, None for absent;
    `metadata` are members of the approval's metadata. `native` is what a command has to name.
    """

    id: str | None
    shown: Json = field(default_factory=dict)
    metadata: Json = field(default_factory=dict)
    native: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """A run that waits for these answers.

    `run` is None where the bridge makes its id, and `bare` says that the questions may stand in
    other records of the thread. `content` makes two records of a run the same; None: can't tell.
    `at` in milliseconds, None: the record's own. `native` is what a command has to name.
    """

    thread: str
    run: str | None
    questions: tuple[Question, ...]
    content: Any
    scope: str = ""
    at: int | None = None
    generation: int = 0
    bare: bool = False
    native: Json = field(default_factory=dict)

    def same_questions(self, other: Asked) -> bool:
        unsure = self.content is None or other.content is None
        return unsure or text.same(self.content, other.content)


@dataclass(frozen=True, slots=True)
class Went:
    """A thread that went on without a command: why its open run closes, if it does.

    `resumes` are the interrupts that somebody resumed, None: whatever is open. `surely` False: it
    may close a run, and need not. `works`: it only goes on working, which at the very instant of a
    question is not newer.
    """

    thread: str
    reasons: frozenset[str]
    scope: str = ""
    resumes: tuple[str, ...] | None = None
    at: int | None = None
    generation: int = 0
    surely: bool = True
    works: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """Questions of a thread whose asking is another record's."""

    thread: str
    scope: str
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Announced:
    """A question of a run under way, asked if its end says nothing of it."""

    thread: str
    scope: str
    question: Question


@dataclass(frozen=True, slots=True)
class Over:
    """A run is over; what it told is asked, or gone. `run` None: it failed, or another begins."""

    thread: str
    scope: str
    run: str | None = None
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Bad:
    """Must go to dead-letters, and nowhere else."""

    why: str


@dataclass(frozen=True, slots=True)
class Unread:
    """Written in a way that is not read here: what came of it is not judged."""

    why: str


@dataclass(frozen=True, slots=True)
class Free:
    """Asks nothing. Whether it is counted, used as context or refused is left to the bridge."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A question, its entry in the command, and the accepted answer; that is empty for none."""

    question: Question
    entry: Json
    answer: Json
    action: str | None  # that it takes, the question's default where it says none

    @property
    def payload(self) -> Any:
        return self.entry.get("payload")


Reading = Asked | Went | Kept | Announced | Over | Bad | Unread | Free


def is_text(value: Any) -> bool:
    """Whether it is a string; numbers are texts of their own kind."""
    return isinstance(value, str) and not isinstance(value, text.Number)


def check_texts(holder: Json, *names: str) -> None:
    """Raises Unreadable where one of these members is neither a string nor absent."""
    for name in names:
        if holder.get(name) is not None and not is_text(holder[name]):
            raise text.Unreadable(f"{name} is no string")
