"""Deployments as they are: clocks that are hours off, brokers that die, and settings that roll.

One source is first known to the workers in the middle of the round, while its agents and people
have been writing since the start.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bridge.demo.broker import DevBroker
from tests.chaos.faketime import off_by
from tests.chaos.faults import Fault, inflict, recoveries, rollout
from tests.chaos.load import LoadReport, run_load
from tests.chaos.rounds import MIXED, Site, build_site
from tests.chaos.workers import Fleet, Worker

LONG_SEEDS = range(401, 411)
HOURS = 7_200
CYCLES, RATE = 250, 7
ENOUGH_OF_EACH = 5


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
async def test_a_rollout_with_wrong_clocks_and_dying_brokers(
    broker: DevBroker, bootstrap: str, tmp_path: Path, seed: int
) -> None:
    """Three workers, two of them hours off; a source comes in by a rolling restart."""
    site = await build_site(bootstrap, tmp_path, sources=MIXED)
    whole, late = site.config.read_text(), MIXED[seed % len(MIXED)]
    site.config.write_text(without(whole, late))
    faults = rollout(seed, 3)
    fleet = Fleet(0, site.config, tmp_path)
    for number, clock in enumerate((off_by(HOURS), off_by(-HOURS), {})):
        fleet.workers.append(Worker(f"worker-{number}", site.config, tmp_path, clock))
    async with fleet as workers:
        load, done = await asyncio.gather(
            loaded(site, seed),
            inflict(faults, workers, broker, lambda: site.config.write_text(whole)),
        )
        report = await site.settled(recoveries(done, load.progress, bound=60))
    told = f"{late} comes late; {', '.join(map(str, faults))}"
    print(f"\nseed {seed}: {told}: {'ok' if report.ok else 'BROKEN'}; {load}")
    assert report.ok, f"seed {seed}, {told}\n{load}\n{report.summary()}"
    for protocol in load.cycles:
        assert load.outcomes[protocol, "resumed"] > ENOUGH_OF_EACH, load


async def loaded(site: Site, seed: int) -> LoadReport:
    return await run_load(
        *(site.bootstrap, site.names, site.input_topics, seed),
        cycles=CYCLES,
        rate=RATE,
        stop_after=CYCLES / RATE + 60,
    )


def without(settings: str, source: str) -> str:
    """The settings file as it was before the source came."""
    head, *tables = settings.split("[[sources]]")
    kept = [table for table in tables if f'name = "{source}"' not in table]
    assert len(kept) == len(tables) - 1
    return "[[sources]]".join([head, *kept])


def test_a_plan_kills_brokers_and_rolls_once() -> None:
    """The same for the same seed."""
    for seed in LONG_SEEDS:
        kinds = [fault.kind for fault in rollout(seed, 3)]
        assert sorted(kinds) == ["kill broker", "kill broker", "kill worker", "roll workers"]
        assert kinds.index("roll workers") in {1, 2}
        assert all(isinstance(fault, Fault) for fault in rollout(seed, 3))
        assert rollout(seed, 3) == rollout(seed, 3)
