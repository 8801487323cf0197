"""A cycle of load as data, drawn from a seed: which run asks what, and how it is answered."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from tests.chaos.shapes import SHAPES, Question

Manner = Literal[
    "plain",
    "invalid_first",
    "twice",
    "contradicted",
    "cancelled",
    "early",
    "never",
]
MANNERS: dict[Manner, int] = {
    "plain": 10,
    "invalid_first": 3,
    "twice": 3,
    "contradicted": 3,
    "cancelled": 2,
    "early": 2,
    "never": 2,  # left to expire
}
_T = TypeVar("_T")
Turn = Literal["none", "withdraw", "expire", "resumed elsewhere", "run error"]
TURNS: dict[Turn, int] = {
    "none": 40,
    "withdraw": 1,
    "expire": 1,
    "resumed elsewhere": 1,
    "run error": 1,
}
Keying = Literal["thread", "none", "foreign"]


@dataclass(frozen=True, slots=True)
class Reply:
    """How one interrupt is answered. `expires_in` in seconds from the event, None: never."""

    manner: Manner
    by_id: bool  # names the approval id, else the full identity
    keying: Keying
    choice: int  # which of the two valid answers
    expires_in: float | None


@dataclass(frozen=True, slots=True)
class Cycle:
    """One interrupted run. `follows` tells what its thread did before it."""

    thread: str
    run: str
    questions: tuple[Question, ...]
    replies: tuple[Reply, ...]
    order: tuple[int, ...]  # in which the interrupts are answered
    keying: Keying
    repeated: bool  # the producer sends the event twice
    conflicting: bool  # then another one under the same ids
    turn: Turn  # what somebody else does to the run once it is published
    late: bool  # one more answer when the run is closed
    bad: int  # bad records around it
    follows: Literal["nothing", "a closed run", "an open run"]


def cycles(seed: int, count: int) -> Iterator[Cycle]:
    """`count` cycles; the same for the same seed."""
    chance = random.Random(seed)
    thread, runs = "", 0
    for number in range(count):
        follows = "nothing" if not runs else _weighted(chance, _FOLLOWS)
        if follows == "nothing":
            thread, runs = f"thread-{seed}-{number}", 0
        runs += 1
        yield _cycle(chance, thread, f"run-{number}", follows)


_FOLLOWS: dict[Literal["nothing", "a closed run", "an open run"], int] = {
    "nothing": 7,
    "a closed run": 2,
    "an open run": 1,
}
_KEYINGS: dict[Keying, int] = {"thread": 8, "none": 1, "foreign": 1}


def _cycle(
    chance: random.Random,
    thread: str,
    run: str,
    follows: Literal["nothing", "a closed run", "an open run"],
) -> Cycle:
    count = chance.choice((1, 1, 1, 2, 2, 3, 4))
    shape = chance.choice(SHAPES)
    questions = tuple(shape(chance, thread, run, number) for number in range(count))
    return Cycle(
        thread=thread,
        run=run,
        questions=questions,
        replies=tuple(_reply(chance) for _ in questions),
        order=tuple(chance.sample(range(count), count)),
        keying=_weighted(chance, _KEYINGS),
        repeated=chance.random() < 0.1,
        conflicting=chance.random() < 0.05,
        turn=_weighted(chance, TURNS),
        late=chance.random() < 0.1,
        bad=chance.choice((0, 0, 0, 0, 1, 2)),
        follows=follows,
    )


def _reply(chance: random.Random) -> Reply:
    manner = _weighted(chance, MANNERS)
    distant = 3_600.0 if chance.random() < 0.2 else None
    return Reply(
        manner=manner,
        by_id=chance.random() < 0.5,
        keying=_weighted(chance, _KEYINGS),
        choice=chance.randrange(2),
        expires_in=chance.uniform(2.0, 5.0) if manner == "never" else distant,
    )


def _weighted(chance: random.Random, weights: Mapping[_T, int]) -> _T:
    return chance.choices(list(weights), list(weights.values()))[0]
