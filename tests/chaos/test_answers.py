"""Answers that come early, twice, against each other, by the hundred, and while nobody works."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from tests.chaos.agents.instants import in_future
from tests.chaos.hand import Hand, question
from tests.chaos.rounds import build_site, working


async def test_answers_wait_while_nobody_works(bootstrap: str, tmp_path: Path) -> None:
    """Faults 23 to 26, and all workers down: what waits is judged in its order, once each.

    Everything is written while no worker runs, answers on foreign partitions among it, so the
    first cycles hold duplicates and contradictions of one batch; a second batch follows later.
    """
    ttl = {"policy": {"early_answer_ttl": "3s"}}
    site = await build_site(bootstrap, tmp_path, slots=4, sections=ttl)
    hand, crc = Hand(site), Hand(site, partitioner="consistent_random")
    async with working(site, 2):
        for number in range(24):
            hand.ask(f"thread-{number}", "run-1", question("a"), question("b"))
        hand.ask("thread-soon", "run-1", question("a", expiresAt=in_future(4)), question("b"))
        hand.flush()
        await hand.until("approvals", lambda found: len(found) == 50)
    for number in range(24):
        thread = f"thread-{number}"
        hand.ask(thread, "run-1", question("a"), question("b"))  # the producer's retry
        crc.answer(thread, "run-1", "a", "1", by_id=number % 2 == 0)
        crc.answer(thread, "run-1", "a", "1.0")
        crc.answer(thread, "run-1", "a", "2")
    hand.answer("thread-soon", "run-1", "a", more={"comment": "in time, but nobody is there"})
    hand.answer("thread-early", "run-1", "a")
    hand.answer("thread-never", "run-1", "a")
    hand.flush()
    crc.flush()
    await asyncio.sleep(4.5)  # the question expires with nobody there: that it did is the fault
    hand.ask("thread-early", "run-1", question("a"))
    hand.flush()
    async with working(site, 2):
        await hand.verdicts(24 * 3 + 3)
        for number in range(24):
            crc.answer(f"thread-{number}", "run-1", "a", "2")
            crc.answer(f"thread-{number}", "run-1", "b", None)
        hand.answer("thread-soon", "run-1", "b")
        crc.flush()
        hand.flush()
        await hand.commands(26)
        report = await site.settled()
    assert report.ok, report.summary()
    said = Counter(report.verdicts)
    assert said["unknown"] == 1, "thread-never"
    assert (said["duplicate"], said["conflict"]) == (24, 48)
    assert report.outcomes == {"resumed": 26}
    assert report.figures["hops"] > 0


@pytest.mark.long
async def test_answers_meet_expiry(bootstrap: str, tmp_path: Path) -> None:
    """Fault 23: answers around one instant of expiry, each run with one outcome."""
    site = await build_site(bootstrap, tmp_path, slots=2)
    hand = Hand(site)
    async with working(site, 1):
        await hand.until("approvals", lambda found: not found)
        for number in range(60):
            hand.ask(f"thread-{number}", "run-1", question("a", expiresAt=in_future(4)))
        hand.flush()
        await asyncio.sleep(3.4)  # answers are wanted on both sides of the instant
        for number in range(60):
            hand.answer(f"thread-{number}", "run-1", "a")
            hand.flush()
            await asyncio.sleep(0.02)
        await hand.verdicts(60)
        await hand.commands(60)
        report = await site.settled()
    assert report.ok, report.summary()
    assert report.verdicts.keys() <= {"accepted", "expired"}
    assert len(report.verdicts) == 2, f"all on one side: {report.verdicts}"


@pytest.mark.long
async def test_many_interrupts_of_one_run(bootstrap: str, tmp_path: Path) -> None:
    """Fault 27: 200 over several cycles, and 1,000 with the worker killed before the last one."""
    site = await build_site(bootstrap, tmp_path, slots=2)
    hand = Hand(site)
    async with site.worker("first") as first:
        hand.ask("thread-200", "run-1", *(question(f"q-{n}") for n in range(200)))
        hand.ask("thread-1000", "run-1", *(question(f"q-{n}") for n in range(1_000)))
        hand.flush()
        await hand.until("approvals", lambda found: len(found) == 1_200)
        for start in range(0, 200, 50):
            for number in range(start, start + 50):
                hand.answer("thread-200", "run-1", f"q-{number}", str(number))
            hand.flush()
            await hand.verdicts(start + 50)
        for number in range(999):
            hand.answer("thread-1000", "run-1", f"q-{number}", str(number))
        hand.flush()
        await hand.verdicts(1_199)
        first.kill()
    hand.answer("thread-1000", "run-1", "q-999", "999")
    hand.flush()
    async with site.worker("second"):
        commands = await hand.commands(2)
        report = await site.settled()
    assert report.ok, report.summary()
    for command in commands:
        payloads = [entry["payload"] for entry in command["entries"]]
        assert payloads == list(range(len(payloads)))
    assert sorted(len(command["entries"]) for command in commands) == [200, 1_000]


async def test_ids_recur_on_a_thread(bootstrap: str, tmp_path: Path) -> None:
    """The same interrupt id in run after run: no answer slips to another run's question."""
    site = await build_site(bootstrap, tmp_path, slots=2)
    hand = Hand(site)
    async with working(site, 1) as (worker,):
        for number in range(1, 5):
            hand.ask("thread-1", f"run-{number}", question("thread-1"))
            if number > 1:
                hand.answer("thread-1", f"run-{number - 1}", "thread-1", f'"again {number}"')
            hand.flush()
            await hand.verdicts(2 * (number - 1))
            if number == 3:
                worker.kill()
                worker.start()
                await worker.ready()
            hand.answer("thread-1", f"run-{number}", "thread-1", f'"for {number}"')
            hand.flush()
            commands = await hand.commands(number)
        report = await site.settled()
    assert report.ok, report.summary()
    payloads = {body["run_id"]: body["entries"][0]["payload"] for body in commands}
    assert payloads == {f"run-{number}": f"for {number}" for number in range(1, 5)}
    assert report.verdicts == {"accepted": 4, "late": 3}
