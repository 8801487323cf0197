"""A cycle of load as data, drawn from a seed: which run asks what, and how it is answered."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from tests.chaos.agents import AGENTS
from tests.chaos.agents.play import Agent, Ask
from tests.chaos.agents.source import Source

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
NO_TURN = "none"
_NO_TURN_WEIGHT = 20
OPERATIONS: Mapping[str, int] = {"withdraw": 1, "expire": 1}
Keying = Literal["thread", "none", "foreign"]
Follows = Literal["nothing", "a closed run", "an open run"]


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
    """One interrupted run of an agent of `source`. `follows` tells what its thread did before it,
    in the cycle of number `before`.
    """

    number: int
    source: Source
    thread: str
    ask: Ask
    replies: tuple[Reply, ...]
    order: tuple[int, ...]  # in which the interrupts are answered
    keying: Keying
    repeated: bool  # the producer sends the event twice
    conflicting: bool  # then another one under the same ids
    noisy: bool  # records around it that change nothing
    turn: str  # what somebody else does to the run once it is published
    late: bool  # one more answer when the run is closed
    bad: int  # bad records around it
    follows: Follows
    before: int | None


def cycles(seed: int, count: int, sources: tuple[str, ...] = tuple(AGENTS)) -> Iterator[Cycle]:
    """`count` cycles of agents of these sources, mixed; the same for the same seed."""
    chance = random.Random(seed)
    last: dict[str, Cycle] = {}
    for number in range(count):
        name = chance.choice(sources)
        agent, before = AGENTS[name], last.get(name)
        follows: Follows = "nothing"
        if before is not None and before.turn not in agent.ends:
            follows = _weighted(chance, _FOLLOWS)
        if before is None or follows == "nothing":
            follows, thread = "nothing", f"{name}-{seed}-{number}"
        else:
            thread = before.thread
        last[name] = _cycle(chance, agent, thread, number, follows, before)
        yield last[name]


_FOLLOWS: dict[Follows, int] = {
    "nothing": 7,
    "a closed run": 2,
    "an open run": 1,
}
_KEYINGS: dict[Keying, int] = {"thread": 8, "none": 1, "foreign": 1}


def _cycle(
    chance: random.Random,
    agent: Agent,
    thread: str,
    number: int,
    follows: Follows,
    before: Cycle | None,
) -> Cycle:
    ask = agent.draw(chance, thread, f"run-{number}", follows)
    replies = tuple(_reply(chance) for _ in range(ask.count))
    return Cycle(
        number=number,
        source=agent.source,
        thread=thread,
        ask=ask,
        replies=replies,
        order=tuple(chance.sample(range(ask.count), ask.count)),
        keying=_weighted(chance, _KEYINGS),
        repeated=chance.random() < 0.1,
        conflicting=chance.random() < 0.05,
        noisy=chance.random() < 0.2,
        turn=_turn(chance, agent, ask, replies),
        late=chance.random() < 0.1,
        bad=chance.choice((0, 0, 0, 0, 1, 2)),
        follows=follows,
        before=None if before is None or follows == "nothing" else before.number,
    )


def _turn(chance: random.Random, agent: Agent, ask: Ask, replies: tuple[Reply, ...]) -> str:
    """What nobody answers and no deadline ends must be ended by somebody."""
    turns = {**OPERATIONS, **agent.turns}
    if not any(_stays(reply, ask, waits) for reply, waits in zip(replies, ask.waits, strict=True)):
        turns[NO_TURN] = _NO_TURN_WEIGHT * len(turns) // 2
    return _weighted(chance, turns)


def _stays(reply: Reply, ask: Ask, waits: bool) -> bool:
    is_answered = reply.manner == "cancelled" or (ask.is_answerable and reply.manner != "never")
    return waits and not is_answered


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
