"""The audit of a cluster under load, again and again: what is under way is never called broken."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

from tests.chaos.load import run_load
from tests.chaos.rounds import MIXED, Site, build_site, working
from tests.chaos.workers import WORKER

CYCLES, RATE = 80, 20.0
AUDITS = 2


async def audit(site: Site, *more: str) -> dict[str, Any]:
    """What the command prints as JSON, and its exit code."""
    command = (*WORKER, "audit", "--json", "--config", str(site.config), *more)
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert process.returncode in (0, 4), err.decode()
    found: dict[str, Any] = json.loads(out)
    return found | {"code": process.returncode}


def broken(found: dict[str, Any]) -> list[Any]:
    return [violation for each in found["invariants"] for violation in each["violations"]]


async def test_a_cluster_at_work_is_judged_as_it_works(bootstrap: str, tmp_path: Path) -> None:
    """Three protocols, all kinds of mischief: no audit cries wolf, and the last judges all."""
    seed = random.randrange(1_000_000)
    site = await build_site(bootstrap, tmp_path, sources=MIXED)
    async with working(site, 2):
        load = asyncio.create_task(
            run_load(
                *(site.bootstrap, site.names, site.input_topics, seed),
                cycles=CYCLES,
                rate=RATE,
                stop_after=CYCLES / RATE + 60,
            )
        )
        try:
            for _ in range(AUDITS):
                found = await audit(site, "--settle", "5s")
                assert found["code"] == 0, f"seed {seed}: {broken(found)}"
            await load
            for more in ((), ("--since", "20s")):
                found = await audit(site, "--settle", "1s", *more)
                assert found["code"] == 0, f"seed {seed} {more}: {broken(found)}"
        finally:
            load.cancel()
    report = await site.settled()
    assert report.ok, f"seed {seed}\n{report.summary()}"
    found = await audit(site, "--settle", "0s")
    assert found["code"] == 0, f"seed {seed}: {broken(found)}"
    assert found["judged"]["runs"] == report.figures["runs"], found["not_judged"]
    assert found["judged"]["commands"] == report.figures["commands"]
