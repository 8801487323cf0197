"""Rounds of faults under load, each checked from the topics alone; seeds are printed.

A few short ones belong to every run of the suite, the long ones to `make chaos`.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from bridge.demo.broker import DevBroker
from tests.chaos.faketime import off_by
from tests.chaos.faults import Broker, Fault, clocks_turned, mixed, plan
from tests.chaos.load import run_load
from tests.chaos.rounds import MIXED, Site, build_site, round_of, working
from tests.chaos.workers import Worker

LONG_SEEDS = (*range(101, 121), *range(301, 311))
ENOUGH, ENOUGH_OF_EACH = 20, 5


async def test_quiet_round(bootstrap: str, tmp_path: Path) -> None:
    """Without any fault, everything that misbehaving producers send is judged rightly."""
    site = await build_site(bootstrap, tmp_path, sources=MIXED)
    report, load = await round_of(site, seed=1, faults=(), cycles=60, rate=20)
    assert report.ok, f"{load}\n{report.summary()}"
    for protocol in load.cycles:
        assert load.outcomes[protocol, "resumed"] > ENOUGH_OF_EACH, load


async def test_workers_are_killed_under_load(bootstrap: str, tmp_path: Path) -> None:
    """SIGKILL at any moment: nothing is lost, doubled or applied to the wrong question."""
    site = await build_site(bootstrap, tmp_path, sources=MIXED)
    faults = plan(11, 14, 2, ("kill worker",), every=3, lasts=(0.1, 3))
    await checked(site, 11, faults, cycles=120, rate=10)


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
async def test_everything_fails_under_load(
    broker: DevBroker, bootstrap: str, tmp_path: Path, seed: int
) -> None:
    """Workers killed, ended and paused beyond their session, the broker killed and paused."""
    site = await build_site(bootstrap, tmp_path, sources=MIXED)
    await checked(site, seed, mixed(seed, 2), cycles=350, rate=8, broker=broker)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(401, 411))
async def test_clocks_are_turned_under_load(
    broker: DevBroker, bootstrap: str, tmp_path: Path, seed: int
) -> None:
    """Workers go on two hours ahead, then two behind; broker and workers are killed as well."""
    off_by(0)  # skips where no clock can be turned
    site = await build_site(bootstrap, tmp_path, sources=MIXED)
    await checked(site, seed, clocks_turned(seed, 2), cycles=350, rate=8, broker=broker)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(201, 206))
async def test_kills_in_any_millisecond(bootstrap: str, tmp_path: Path, seed: int) -> None:
    """Three workers, one killed about every second and started again at once."""
    site = await build_site(bootstrap, tmp_path, sources=MIXED)
    faults = plan(seed, 40, 3, ("kill worker",), every=1, lasts=(0.0, 0.3))
    await checked(site, seed, faults, cycles=300, rate=8, workers=3)


@pytest.mark.long
@pytest.mark.parametrize("seconds", [20, 60])
async def test_rebalance_storm(bootstrap: str, tmp_path: Path, seconds: int) -> None:
    """Fault 8: a worker joins or leaves every two seconds, and work goes on meanwhile."""
    site = await build_site(bootstrap, tmp_path, sources=MIXED)
    async with working(site, 1) as (steady,), site.worker("guest", ready=False) as guest:
        load, _ = await asyncio.gather(
            run_load(
                *(site.bootstrap, site.names, site.input_topics, 31),
                cycles=seconds * 6,
                rate=6,
                stop_after=seconds + 60,
            ),
            come_and_go(guest, seconds),
        )
        report = await site.settled()
        assert steady.lives == 1
    assert guest.lives > seconds // 6, "the guest did not come and go"
    assert report.ok, f"{load}\n{report.summary()}"
    assert report.outcomes["resumed"] > seconds, report.summary()


async def come_and_go(guest: Worker, seconds: int) -> None:
    """SIGTERM and start by turns, two seconds apart; every third end is a SIGKILL."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        await asyncio.sleep(2)
        if not guest.alive:
            guest.start()
        elif guest.lives % 3 == 0:
            guest.kill()
        else:
            await guest.stop()


async def checked(
    site: Site,
    seed: int,
    faults: tuple[Fault, ...],
    *,
    cycles: int,
    rate: float,
    workers: int = 2,
    broker: Broker | None = None,
) -> None:
    """One round, its plan and its result printed, and all invariants asserted."""
    began = time.monotonic()
    report, load = await round_of(
        site,
        seed=seed,
        faults=faults,
        cycles=cycles,
        rate=rate,
        workers=workers,
        broker=broker,
        bound=60,
    )
    took = time.monotonic() - began
    told = f"{len(faults)} faults ({', '.join(sorted({f.kind for f in faults}))}), {took:.0f} s"
    print(f"\nseed {seed}: {told}: {'ok' if report.ok else 'BROKEN'}; {load}")
    assert report.ok, f"seed {seed}, {list(map(str, faults))}\n{load}\n{report.summary()}"
    # Enough to judge; how much load comes through depends on how long the broker takes to return.
    assert report.outcomes["resumed"] > ENOUGH, report.summary()
    for protocol in load.cycles:
        assert load.outcomes[protocol, "resumed"] > ENOUGH_OF_EACH, load
