"""Faults as data, drawn from a seed, and how each is done to workers and broker.

A plan is a list that can be printed; the same seed gives the same plan.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

from bridge.audit.outside import Recovery
from tests.chaos.faketime import off_by
from tests.chaos.workers import Worker

Kind = Literal[
    "kill worker",
    "pause worker",
    "end worker",
    "turn clock",
    "kill broker",
    "pause broker",
    "restart broker",
    "roll workers",
]
WORKER_KINDS: tuple[Kind, ...] = ("kill worker", "pause worker", "end worker")
CLOCK: Kind = "turn clock"  # only where it can be done
BROKER_KINDS: tuple[Kind, ...] = ("kill broker", "pause broker", "restart broker")


_LASTS: dict[Kind, tuple[float, float]] = {
    "kill worker": (0.0, 3.0),
    "pause worker": (6.5, 10.0),  # the workers' session is 6 s
    "end worker": (0.0, 3.0),
    "turn clock": (0.0, 1.0),
    "kill broker": (0.0, 3.0),
    "pause broker": (1.0, 12.0),
    "restart broker": (0.0, 0.0),
    "roll workers": (1.0, 3.0),
}
_OFF = (7_200, -7_200, 0)
"""How far a worker's clock is off after its first, second and third turn, in seconds."""


class Fault(NamedTuple):
    """One fault: when it starts and how long it lasts, in seconds; which worker, by number."""

    at: float
    kind: Kind
    worker: int
    lasts: float

    def __str__(self) -> str:
        where = f" {self.worker}" if self.kind in (*WORKER_KINDS, CLOCK) else ""
        return f"{self.at:.1f} s: {self.kind}{where} for {self.lasts:.1f} s"


class Done(NamedTuple):
    """A fault that was done; moments of time.monotonic()."""

    fault: Fault
    began: float
    ended: float


class Broker(Protocol):
    """What is done to a broker; the development broker has it all."""

    def kill(self) -> None: ...
    def pause(self) -> None: ...
    def cont(self) -> None: ...
    def restart(self) -> str: ...


def plan(
    seed: int,
    seconds: float,
    workers: int,
    kinds: Sequence[Kind] = WORKER_KINDS,
    every: float = 5.0,
    lasts: tuple[float, float] = (0.2, 10.0),
) -> tuple[Fault, ...]:
    """Faults for a run of `seconds`, one after the other, on average `every` seconds apart."""
    chance = random.Random(seed)
    faults: list[Fault] = []
    at = chance.uniform(0.5, 1.5) * every
    while True:
        fault = Fault(at, chance.choice(kinds), chance.randrange(workers), chance.uniform(*lasts))
        if at + fault.lasts > seconds:
            return tuple(faults)
        faults.append(fault)
        at += fault.lasts + chance.uniform(0.5, 1.5) * every


def mixed(seed: int, workers: int) -> tuple[Fault, ...]:
    """A worker killed, a worker paused beyond its session, a broker killed, and two more, in any
    order, one to four seconds apart."""
    chance = random.Random(seed)
    kinds: list[Kind] = ["kill worker", "pause worker", "kill broker"]
    kinds += chance.sample(sorted({*WORKER_KINDS, *BROKER_KINDS}), 2)
    return _in_any_order(chance, kinds, workers)


def clocks_turned(seed: int, workers: int) -> tuple[Fault, ...]:
    """Clocks of workers turned three times, a broker killed twice and a worker once, likewise."""
    kinds: list[Kind] = [CLOCK] * 3 + ["kill broker"] * 2 + ["kill worker"]
    return _in_any_order(random.Random(seed), kinds, workers)


def _in_any_order(chance: random.Random, kinds: list[Kind], workers: int) -> tuple[Fault, ...]:
    chance.shuffle(kinds)
    faults: list[Fault] = []
    at = chance.uniform(1, 4)
    for kind in kinds:
        fault = Fault(at, kind, chance.randrange(workers), chance.uniform(*_LASTS[kind]))
        faults.append(fault)
        at += fault.lasts + chance.uniform(1, 4)
    return tuple(faults)


def rollout(seed: int, workers: int) -> tuple[Fault, ...]:
    """Two brokers' deaths, one worker's, and between them all workers restarted one by one."""
    chance = random.Random(seed)
    kinds: list[Kind] = ["kill broker", "kill worker", "kill broker"]
    chance.shuffle(kinds)
    kinds.insert(chance.randrange(1, 3), "roll workers")
    faults: list[Fault] = []
    at = chance.uniform(4, 7)
    for kind in kinds:
        lasts = chance.uniform(*_LASTS[kind])
        faults.append(Fault(at, kind, chance.randrange(workers), lasts))
        at += lasts + chance.uniform(2, 6)
    return tuple(faults)


async def inflict(
    faults: Sequence[Fault],
    workers: Sequence[Worker],
    broker: Broker | None = None,
    change: Callable[[], object] | None = None,
) -> list[Done]:
    """Do all of them in time, one after the other.

    A worker that was ended, or that ended itself because it was fenced, is started again.
    `change` is what happens to the workers' settings before they are rolled.
    """
    start = time.monotonic()
    done = []
    for fault in faults:
        await asyncio.sleep(max(0.0, start + fault.at - time.monotonic()))
        began = time.monotonic()
        if fault.kind in (*WORKER_KINDS, CLOCK):
            await _hurt_worker(fault, workers[fault.worker])
        elif fault.kind == "roll workers":
            await _roll(workers, fault.lasts, change)
        elif broker is not None:
            await _hurt_broker(fault, broker)
        done.append(Done(fault, began, time.monotonic()))
        for worker in workers:
            if not worker.alive:
                worker.start()
    return done


async def _hurt_worker(fault: Fault, worker: Worker) -> None:
    if not worker.alive:
        worker.start()
    if fault.kind == "pause worker":
        worker.pause()
        await asyncio.sleep(fault.lasts)
        worker.cont()
        return
    if fault.kind == "end worker":
        await worker.stop()
    else:
        worker.kill()
    if fault.kind == CLOCK:  # from outside no clock of a process can be turned while it runs
        worker.besides = off_by(_OFF[worker.turns % len(_OFF)])
        worker.turns += 1
    await asyncio.sleep(fault.lasts)
    worker.start()


async def _roll(
    workers: Sequence[Worker], pause: float, change: Callable[[], object] | None
) -> None:
    """As a deployment does: one worker after the other, the next when some time has passed."""
    if change is not None:
        change()
    for worker in workers:
        if worker.alive:
            await worker.stop()
        worker.start()
        await asyncio.sleep(pause)


async def _hurt_broker(fault: Fault, broker: Broker) -> None:
    if fault.kind == "pause broker":
        broker.pause()
        await asyncio.sleep(fault.lasts)
        broker.cont()
        return
    if fault.kind == "kill broker":
        broker.kill()
        await asyncio.sleep(fault.lasts)
    await asyncio.to_thread(broker.restart)


def recoveries(done: Sequence[Done], progress: Sequence[float], bound: float) -> list[Recovery]:
    """For I7: the first progress after each fault, `progress` being the moments it was seen.

    Left out are faults that another one followed within the bound, and those at the end of the
    load, after which there may have been nothing to do.
    """
    nexts = [*(later.began for later in done[1:]), float("inf")][: len(done)]
    last = max(progress, default=float("-inf"))
    found = []
    for (fault, _began, ended), following in zip(done, nexts, strict=True):
        if following < ended + bound or last < ended:
            continue
        first = next((moment for moment in progress if moment >= ended), None)
        found.append(Recovery(str(fault), ended, first, bound))
    return found
