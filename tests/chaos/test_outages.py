"""How soon every slot serves again when the only broker has been killed under load, and what a
worker shows of its slots until then.

Times are printed and not asserted: they are the machine's. What is bounded here is the order of
magnitude, against waiting that nobody needs.
"""

from __future__ import annotations

import asyncio
import itertools
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bridge.core.ids import home_slot
from bridge.demo.broker import DevBroker
from tests.chaos.hand import Hand, question
from tests.chaos.rounds import Site, build_site, working
from tests.chaos.workers import Worker

SEEN_AFTER = 4.0  # seconds; until then a request may only be late
FAR_TOO_LONG = 30.0  # the target is 5 s


@pytest.mark.parametrize(
    "away",
    [(1, 12), pytest.param((2, 1, 25, 6, 12), marks=pytest.mark.long)],
    ids=lambda away: f"{len(away)} outages",
)
async def test_every_slot_serves_soon_after_the_broker_is_back(
    broker: DevBroker, bootstrap: str, tmp_path: Path, away: tuple[int, ...]
) -> None:
    site = await build_site(bootstrap, tmp_path)
    async with working(site, 2) as workers:
        busy = asyncio.create_task(load(site))
        try:
            for seconds in away:
                await all_serve(workers, FAR_TOO_LONG)
                await asyncio.sleep(3)
                shown = await outage(broker, workers, seconds)
                took = await asked_in_every_slot(site)
                print(f"away for {seconds} s: all slots serve {took:.1f} s after; shown {shown}")
                assert shown <= {"waiting"}
        finally:
            busy.cancel()
            await asyncio.gather(busy, return_exceptions=True)
        assert [worker.lives for worker in workers] == [1, 1]
        report = await site.settled()
    assert report.ok, report.summary()


async def load(site: Site) -> None:
    """A question some 20 times a second, and its answer."""
    hand = Hand(site)
    for number in itertools.count():
        with suppress(BufferError):
            hand.ask(f"thread-{number}", "run-1", question("a"))
            hand.answer(f"thread-{number}", "run-1", "a")
        await asyncio.sleep(0.05)


async def outage(broker: DevBroker, workers: list[Worker], seconds: int) -> set[str]:
    """Kill the broker for so long; what was shown of slots once that must have been noticed."""
    broker.kill()
    killed, shown = time.monotonic(), set[str]()
    while (past := time.monotonic() - killed) < seconds:
        if past > SEEN_AFTER:
            shown |= {state for worker in workers for state in await states(worker)}
        await asyncio.sleep(0.2)
    await asyncio.to_thread(broker.restart)
    return shown


async def all_serve(workers: list[Worker], within: float) -> float:
    """Until each slot of the site is served by somebody; seconds it took."""
    began = time.monotonic()
    while time.monotonic() - began < within:
        found = [state for worker in workers for state in await states(worker)]
        if found == ["serving"] * 4:
            return time.monotonic() - began
        await asyncio.sleep(0.05)
    raise AssertionError(f"not within {within:g} s: {[await w.readiness() for w in workers]}")


async def asked_in_every_slot(site: Site) -> float:
    """Until a question that is put to each slot now has been published; seconds it took.

    What /readyz says would not do: a slot may not have noticed yet that its broker was away.
    """
    began, word = time.monotonic(), uuid.uuid4().hex
    hand = Hand(site)
    threads = {thread_at(slot, site.slots, word) for slot in range(site.slots)}
    for thread in threads:
        hand.ask(thread, "run-1", question("a"))
    hand.flush()
    await hand.until("approvals", lambda found: threads <= {body["thread_id"] for body in found})
    return time.monotonic() - began


def thread_at(slot: int, slots: int, word: str) -> str:
    """The name of a thread whose home is this slot."""
    names = (f"after-{word}-{number}" for number in itertools.count())
    return next(name for name in names if home_slot(name, slots) == slot)


async def states(worker: Worker) -> list[str]:
    """Of the slots it holds, as /readyz tells."""
    body: dict[str, Any] = await worker.readiness()
    return list(body.get("slots", {}).values())
