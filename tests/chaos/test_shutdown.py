"""SIGTERM under load: an orderly end that leaves nothing behind for the next owner to wait for."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from tests.chaos.hand import Hand
from tests.chaos.load import run_load
from tests.chaos.rounds import MIXED, build_site
from tests.chaos.workers import STOP_SECONDS

SHUTDOWN_SECONDS = 20.0  # the worker's own deadline
CYCLES, RATE = 240, 25
SESSION_SECONDS = 60.0  # long, so that a seat that was not given back shows


async def test_ended_under_load(bootstrap: str, tmp_path: Path) -> None:
    """Fault 36: exit 0 in time, no open transaction, and the next owner need not wait."""
    times = {"session_timeout": f"{SESSION_SECONDS:.0f}s"}
    site = await build_site(bootstrap, tmp_path, sources=MIXED, sections={"worker": times})
    hand = Hand(site)
    sending = asyncio.create_task(
        run_load(
            *(site.bootstrap, site.names, site.input_topics, 36),
            cycles=CYCLES,
            rate=RATE,
            stop_after=CYCLES / RATE + 60,
        )
    )
    async with site.worker("first") as first:
        await hand.commands(20)
        began = time.monotonic()
        assert await first.stop(STOP_SECONDS) == 0
        assert time.monotonic() - began < SHUTDOWN_SECONDS
    assert not sending.done(), "there was no load"
    for role in ("state", "approvals", "resume-commands", "answer-verdicts"):
        assert await hand.transactions_left(0, role, within=2)
    before = len(await hand.bodies("resume-commands"))
    assert before < CYCLES / 2
    async with site.worker("second") as second:
        await hand.commands(before + 20, within=SESSION_SECONDS / 2)
        load = await sending
        report = await site.settled()
        assert second.lives == 1
    assert report.ok, f"{load}\n{report.summary()}"
    assert load.given_up.total() == 0, load
    assert report.outcomes["resumed"] > CYCLES / 2, report.summary()
