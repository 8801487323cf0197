"""The broker goes away and comes back, with work under way and without."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from bridge.demo.broker import DevBroker
from tests.chaos.faults import Fault, Kind
from tests.chaos.hand import Hand, question
from tests.chaos.metering import cpu_seconds
from tests.chaos.rounds import MIXED, Site, build_site, round_of, working
from tests.chaos.workers import Worker

CPU_SHARE = 0.10  # of one core, per worker; a hot loop takes all of it
LINES_A_SECOND = 3.0  # per worker, for all its slots


@pytest.mark.parametrize(
    "kind", ["kill broker", pytest.param("restart broker", marks=pytest.mark.long)]
)
async def test_gone_in_the_middle_of_commits(
    broker: DevBroker, bootstrap: str, tmp_path: Path, kind: Kind
) -> None:
    """Faults 10 and 11, busy: a crash, or a clean restart, under load; the workers live on."""
    site = await build_site(bootstrap, tmp_path, sources=MIXED)
    report, load = await round_of(
        site, seed=21, faults=(Fault(3, kind, 0, 0.5),), cycles=80, rate=8, broker=broker
    )
    assert report.ok, f"{load}\n{report.summary()}"
    assert report.outcomes["resumed"] > 30, report.summary()


@pytest.mark.long
async def test_restarted_while_nothing_happens(
    broker: DevBroker, bootstrap: str, tmp_path: Path
) -> None:
    """Fault 11, idle: the same processes go on with the first question after it."""
    site = await build_site(bootstrap, tmp_path)
    hand = Hand(site)
    async with working(site, 2) as workers:
        await asyncio.to_thread(broker.restart)
        await one_cycle(hand, "thread-after")
        assert [worker.lives for worker in workers] == [1, 1]
        assert all(worker.alive for worker in workers)
        report = await site.settled()
    assert report.ok, report.summary()


@pytest.mark.parametrize(
    "seconds", [pytest.param(15, id="15s"), pytest.param(120, id="120s", marks=pytest.mark.long)]
)
async def test_away_for_a_while(
    broker: DevBroker, bootstrap: str, tmp_path: Path, seconds: int
) -> None:
    """Fault 12: workers wait without a hot loop, say that they are not ready, and go on."""
    site = await build_site(bootstrap, tmp_path)
    hand = Hand(site)
    async with working(site, 2) as workers:
        await one_cycle(hand, "thread-before")
        hand.ask("thread-during", "run-1", question("a"))
        hand.flush()
        await hand.until("approvals", lambda found: len(found) >= 3)
        hand.answer("thread-during", "run-1", "a")
        hand.flush()
        broker.kill()
        try:
            await waits_calmly(workers, seconds)
        finally:
            await asyncio.to_thread(broker.restart)
        await hand.commands(2)
        await one_cycle(hand, "thread-after")
        for worker in workers:
            await worker.ready()
        assert [worker.lives for worker in workers] == [1, 1]
        await judged(site, 3)


async def one_cycle(hand: Hand, thread: str) -> None:
    """Ask, answer, and wait for the resume command."""
    before = len(await hand.bodies("resume-commands"))
    hand.ask(thread, "run-1", question("a"))
    hand.answer(thread, "run-1", "a")
    hand.flush()
    await hand.commands(before + 1)


async def waits_calmly(workers: list[Worker], seconds: int) -> None:
    """Watch them through the outage."""
    began = time.monotonic()
    used = [cpu_seconds(worker.pid) for worker in workers]
    lines = [len(worker.lines()) for worker in workers]
    for worker in workers:
        await worker.unready(seconds)
    assert all([await worker.is_healthy() for worker in workers])
    await asyncio.sleep(began + seconds - time.monotonic())
    took = time.monotonic() - began
    for worker, cpu, said in zip(workers, used, lines, strict=True):
        assert cpu_seconds(worker.pid) - cpu < 1 + CPU_SHARE * took, "a hot loop"
        assert len(worker.lines()) - said < 30 + LINES_A_SECOND * took, worker.tail()
        assert not await worker.is_ready()


async def judged(site: Site, resumed: int) -> None:
    report = await site.settled()
    assert report.ok, report.summary()
    assert report.outcomes == {"resumed": resumed}
