"""Short rounds of faults under load, each checked from the topics alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.faults import Fault, plan
from tests.chaos.rounds import build_site, round_of


async def test_quiet_round(bootstrap: str, tmp_path: Path) -> None:
    """Without any fault, everything that misbehaving producers send is judged rightly."""
    site = await build_site(bootstrap, tmp_path)
    report, load = await round_of(site, seed=1, faults=(), cycles=60, rate=20)
    assert report.ok, f"{load}\n{report.summary()}"
    assert report.outcomes["resumed"] > 20, report.summary()


@pytest.mark.parametrize("seed", [11, 12])
async def test_workers_are_killed_under_load(bootstrap: str, tmp_path: Path, seed: int) -> None:
    """SIGKILL at any moment: nothing is lost, doubled or applied to the wrong question."""
    site = await build_site(bootstrap, tmp_path)
    faults: tuple[Fault, ...] = plan(seed, 20, 2, ("kill worker",), every=3, lasts=(0.1, 3))
    report, load = await round_of(site, seed=seed, faults=faults, cycles=150, rate=10)
    assert report.ok, f"seed {seed}, {faults}\n{load}\n{report.summary()}"
    assert report.outcomes["resumed"] > 50, report.summary()
