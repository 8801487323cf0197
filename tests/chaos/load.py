"""Load that misbehaves like the world does: bounded, seeded, and told from a plan.

Producers retry and repeat, answers come early, late, twice, wrong and off their partition. What it
did is in its report; whether the bridge was right, the checker tells from the topics alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from random import Random

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from tests.chaos.agents.play import Play
from tests.chaos.board import Board, watching
from tests.chaos.plan import Cycle, cycles
from tests.chaos.script import Step, play_of, steps


@dataclass(slots=True)
class LoadReport:
    """What was sent by protocol and kind, and when the bridge was seen to work
    (time.monotonic()).
    """

    seed: int
    sent: Counter[tuple[str, str]] = field(default_factory=Counter)
    cycles: Counter[str] = field(default_factory=Counter)  # begun, by protocol
    closed: Counter[str] = field(default_factory=Counter)  # runs seen to close
    given_up: Counter[str] = field(default_factory=Counter)  # cycles that waited in vain
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)  # at its end, as seen
    in_vain: list[str] = field(default_factory=list)  # cycles that gave up, and before which step
    unsure: int = 0  # sends without confirmation: written or not
    progress: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [self._told(protocol) for protocol in sorted(self.cycles)]
        vain = f"; in vain {', '.join(self.in_vain)}" if self.in_vain else ""
        return "\n  ".join([f"seed {self.seed}: {self.unsure} sends unsure{vain}", *lines])

    def _told(self, protocol: str) -> str:
        return (
            f"{protocol}: {self.cycles[protocol]} cycles, {self.closed[protocol]} runs closed, "
            f"{self.given_up[protocol]} gave up; sent {_listed(self.sent, protocol)}; "
            f"ended {_listed(self.outcomes, protocol)}"
        )


def _listed(counts: Counter[tuple[str, str]], protocol: str) -> str:
    return ", ".join(f"{n} {kind}" for (of, kind), n in sorted(counts.items()) if of == protocol)


async def run_load(
    bootstrap: str,
    names: Mapping[str, str],
    input_topics: Mapping[str, str],
    seed: int,
    cycles: int,
    rate: float,
    stop_after: float,
    patience: float = 60.0,
) -> LoadReport:
    """Play `cycles` cycles, `rate` started a second, and give up after `stop_after` seconds.

    A cycle gives up on its run after `patience` seconds without what it waits for. `names` maps at
    least the roles `answers` and `approvals` to topics; with `operations`, runs are withdrawn and
    expired too. `input_topics` are by source: those sources are played. Survives brokers that go
    away. Returns when every cycle has ended, with nothing of its own left running.
    """
    async with _producing(bootstrap) as producer, watching(bootstrap, names["approvals"]) as board:
        load = _Load(producer, board, names, input_topics, seed, patience)
        load.report.progress = board.progress
        await load.play(cycles, rate, time.monotonic() + stop_after)
        load.report.outcomes = board.outcomes()
    return load.report


class _Load:
    """One load: sends what the plan says, at the moments the board allows."""

    def __init__(
        self,
        producer: AIOKafkaProducer,
        board: Board,
        names: Mapping[str, str],
        input_topics: Mapping[str, str],
        seed: int,
        patience: float,
    ) -> None:
        self.report = LoadReport(seed)
        self._producer = producer
        self._board = board
        self._names = names
        self._input_topics = input_topics
        self._patience = patience
        self._plays: dict[int, tuple[Cycle, Play]] = {}
        self._asked: dict[int, asyncio.Event] = {}  # by number of the cycle

    async def play(self, count: int, rate: float, deadline: float) -> None:
        """Start cycles at the rate; a cycle on a used thread waits as its plan says."""
        start = time.monotonic()
        seed = self.report.seed
        async with asyncio.TaskGroup() as tasks:
            for cycle in cycles(seed, count, tuple(self._input_topics)):
                due = start + cycle.number / rate
                await asyncio.sleep(max(0.0, min(due, deadline) - time.monotonic()))
                if time.monotonic() >= deadline:
                    break
                chance = Random(f"{seed}/{cycle.number}")
                self._asked[cycle.number] = asyncio.Event()
                tasks.create_task(self._cycle(cycle, chance, deadline))

    async def _cycle(self, cycle: Cycle, chance: Random, deadline: float) -> None:
        deadline = min(deadline, time.monotonic() + self._patience)
        protocol = cycle.source.protocol
        self.report.cycles[protocol] += 1
        before = await self._before(cycle, deadline)
        play = play_of(cycle, _now())
        self._plays[cycle.number] = cycle, play
        vain = await self._send_all(cycle, play, before, chance, deadline)
        if vain is None and await self._closed(cycle, play, deadline):
            self.report.closed[protocol] += 1
        else:
            self.report.given_up[protocol] += 1
            self.report.in_vain.append(f"{cycle.number}: {vain or 'its end'}")

    async def _before(self, cycle: Cycle, deadline: float) -> Play | None:
        """The run before on its thread, once it was asked, and closed where the plan says so.

        An agent tells of a thread in order, also while the broker is away.
        """
        if cycle.before is None:
            return None
        await self._asked[cycle.before].wait()
        before, play = self._plays[cycle.before]
        if cycle.follows == "a closed run":
            await self._closed(before, play, deadline)
        return play

    async def _send_all(
        self, cycle: Cycle, play: Play, before: Play | None, chance: Random, deadline: float
    ) -> str | None:
        """None, or the step whose moment never came."""
        for step in steps(cycle, play, before, chance):
            if not await self._may(step, cycle, play, deadline):
                return step.kind
            await self._send(step, cycle)
            if step.kind == "event":
                self._asked[cycle.number].set()
        return None

    async def _may(self, step: Step, cycle: Cycle, play: Play, deadline: float) -> bool:
        approval_id = _approval_id(cycle, play, step.index)
        match step.needs:
            case "published":
                return await self._board.until(
                    lambda: self._board.is_published(approval_id), deadline
                )
            case "closed":
                return await self._closed(cycle, play, deadline)
            case _:
                return True  # a run before this one was waited for already

    async def _closed(self, cycle: Cycle, play: Play, deadline: float) -> bool:
        approval_id = _approval_id(cycle, play, 0)
        return await self._board.until(lambda: self._board.is_closed(approval_id), deadline)

    async def _send(self, step: Step, cycle: Cycle) -> None:
        source = cycle.source
        topic = (
            self._input_topics[source.name] if step.role == "input" else self._names.get(step.role)
        )
        if topic is None:
            return
        self.report.sent[source.protocol, step.kind] += 1
        key, value = step.key, step.written(_now())
        if key is None and value is None:
            key = b""  # this client refuses a record without both; others are tried elsewhere
        try:
            await self._producer.send_and_wait(topic, value, key)
        except KafkaError:
            self.report.unsure += 1


def _approval_id(cycle: Cycle, play: Play, index: int) -> str:
    interrupt = play.questions[index].interrupt_id
    return cycle.source.id_of("approval", cycle.thread, play.run, interrupt)


def _now() -> int:
    return time.time_ns() // 1_000_000


@contextlib.asynccontextmanager
async def _producing(bootstrap: str) -> AsyncIterator[AIOKafkaProducer]:
    # Not idempotent on purpose: a retry that repeats a record is part of the load.
    producer = AIOKafkaProducer(
        bootstrap_servers=bootstrap, acks="all", request_timeout_ms=15_000, retry_backoff_ms=100
    )
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()
