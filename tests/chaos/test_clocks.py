"""Wall clocks that are hours off decide nothing; the broker's time does."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from bridge.console.table import HEADINGS
from tests.chaos.agents.instants import in_future
from tests.chaos.faketime import off_by
from tests.chaos.hand import Hand, question
from tests.chaos.metering import figure
from tests.chaos.rounds import Site, build_site
from tests.chaos.workers import WORKER
from tests.topics import set_topic

HOURS = 7_200


async def pending(site: Site, env: Mapping[str, str]) -> list[tuple[str, str]]:
    """How long each question has waited, and how long it has, as the command shows it there."""
    command = [*WORKER, "pending", "--config", str(site.config)]
    shown = await asyncio.to_thread(
        subprocess.run, command, env={**os.environ, **env}, capture_output=True, check=True
    )
    rows = [line.split("\t") for line in shown.stdout.decode().splitlines()]
    waited, left = HEADINGS.index("pending for"), HEADINGS.index("until")
    return [(row[waited], row[left]) for row in rows[1:]]


async def test_wall_clocks_two_hours_off(bootstrap: str, tmp_path: Path) -> None:
    """Faults 21 and 22: one worker two hours ahead hands over to one two hours behind.

    Questions with an hour to go stay, one whose instant comes expires, with either; nothing is
    asked again and no event is too old for being read by a clock from the future.
    """
    kept = {"policy": {"max_event_age": "1h", "closed_retention": "1h"}}
    site = await build_site(bootstrap, tmp_path, slots=2, sections=kept)
    hand = Hand(site)
    resumed = 0
    for name, seconds in (("ahead", HOURS), ("behind", -HOURS)):
        async with site.worker(name, env=off_by(seconds)) as worker:
            hand.ask(f"{name}-soon", "run-1", question("a", expiresAt=in_future(1)))
            for number in range(10):
                asked = question("a", expiresAt=in_future(3_600))
                hand.ask(f"{name}-{number}", "run-1", asked)
            hand.flush()
            await hand.commands(resumed + 1)
            text = await worker.metrics()
            assert figure(text, "clock_skew_seconds") == pytest.approx(seconds, abs=60)
            resumed = 1
    async with site.worker("right"):
        for name in ("ahead", "behind"):
            for number in range(10):
                hand.answer(f"{name}-{number}", "run-1", "a")
        hand.flush()
        await hand.commands(22)
        report = await site.settled()
    assert report.ok, report.summary()
    assert report.verdicts == {"accepted": 20}
    assert report.outcomes == {"resumed": 22}
    expired = [body for body in await hand.bodies("approvals") if body["status"] == "expired"]
    assert {body["thread_id"] for body in expired} == {"ahead-soon", "behind-soon"}


async def test_workers_four_hours_apart_side_by_side(bootstrap: str, tmp_path: Path) -> None:
    """One two hours ahead, one two hours behind: both ask, take answers and close by broker time.

    Each tells its own skew, ages are those of the brokers' clock, and so they are for whoever
    looks at what is pending on a machine whose clock is off.
    """
    site = await build_site(bootstrap, tmp_path, slots=4)
    hand = Hand(site)
    threads = [f"thread-{number}" for number in range(16)]
    async with (
        site.worker("ahead", env=off_by(HOURS)) as ahead,
        site.worker("behind", env=off_by(-HOURS)) as behind,
    ):
        for thread in threads:
            hand.ask(thread, "run-1", question("a", expiresAt=in_future(3_600)))
            hand.ask(f"{thread}-soon", "run-1", question("a", expiresAt=in_future(2)))
        hand.flush()
        await hand.commands(len(threads))
        for worker, seconds in ((ahead, HOURS), (behind, -HOURS)):
            text = await worker.metrics()
            assert figure(text, "slots", state="serving") == 2, "one of them serves all"
            assert figure(text, "clock_skew_seconds") == pytest.approx(seconds, abs=60)
            assert 0 < figure(text, "oldest_pending_age_seconds") < 600
            shown = await pending(site, off_by(seconds))
            assert len(shown) == len(threads)
            for waited, left in shown:
                assert re.fullmatch(r"(\dm )?[1-9]\d?s", waited), "not by the brokers' clock"
                assert re.fullmatch(r"in 5\dm( \d+s)?", left), "not by the brokers' clock"
        for thread in threads:
            hand.answer(thread, "run-1", "a")
        hand.flush()
        await hand.commands(2 * len(threads))
        report = await site.settled()
    assert report.ok, report.summary()
    assert report.verdicts == {"accepted": len(threads)}
    expired = [body for body in await hand.bodies("approvals") if body["status"] == "expired"]
    assert {body["thread_id"] for body in expired} == {f"{thread}-soon" for thread in threads}


async def test_a_worker_that_brokers_let_write_nothing_knows_that_its_clock_is_off(
    bootstrap: str, tmp_path: Path
) -> None:
    """Its outputs are stamped by it, and brokers refuse what is dated an hour ahead.

    It shows by how much it is off all the same, and serves as soon as the topic is mended.
    """
    site = await build_site(bootstrap, tmp_path, slots=1)
    hand = Hand(site)
    admin = AdminClient({"bootstrap.servers": bootstrap})
    stamp_by = partial(set_topic, admin, site.names["approvals"], "message.timestamp.type")
    async with site.worker(env=off_by(HOURS)) as worker:
        stamp_by("CreateTime")
        hand.ask("thread-1", "run-1", question("a"))
        hand.flush()
        await worker.unready(30)
        await asyncio.sleep(5)  # several openings, each of which is refused
        assert await hand.records("resume-commands") == []
        text = await worker.metrics()
        assert figure(text, "clock_skew_seconds") == pytest.approx(HOURS, abs=60)
        stamp_by("LogAppendTime")
        hand.answer("thread-1", "run-1", "a")
        hand.flush()
        await hand.commands(1)
