"""Workers that die at the worst moments of a slot's life, placed exactly by a rig."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.audit.log import LogRecord
from tests.chaos.hand import Hand, question
from tests.chaos.rigged import rigged
from tests.chaos.rounds import Site, build_site

KILLED = -9


async def answered(site: Site, rig: str) -> Hand:
    """One run, asked and answered with a worker that dies over its resume command."""
    hand = Hand(site)
    async with site.worker("rigged", rigged(rig, "resume-commands")) as worker:
        hand.ask("thread-1", "run-1", question("a"), question("b"))
        hand.flush()
        await hand.until("approvals", lambda found: len(found) == 2)
        hand.answer("thread-1", "run-1", "b")
        hand.answer("thread-1", "run-1", "a")
        hand.flush()
        assert await worker.ended() == KILLED
    return hand


async def test_killed_between_acknowledgement_and_commit(bootstrap: str, tmp_path: Path) -> None:
    """Fault 1: what was acknowledged is never seen; the next owner writes it once."""
    site = await build_site(bootstrap, tmp_path, slots=1)
    hand = await answered(site, "die-before-commit")
    assert await hand.bodies("resume-commands") == []
    assert await hand.written("resume-commands") == 1
    async with site.worker():
        await hand.commands(1)
        report = await site.settled()
    assert report.ok, report.summary()
    assert await hand.written("resume-commands") == 2, "the first one was not aborted"


async def test_killed_before_the_reply_to_a_commit(bootstrap: str, tmp_path: Path) -> None:
    """Fault 2: a commit that the worker never heard of counts, and nothing is done again."""
    site = await build_site(bootstrap, tmp_path, slots=1)
    hand = await answered(site, "die-after-commit")
    await hand.commands(1)
    async with site.worker():
        report = await site.settled()
    assert report.ok, report.summary()
    assert report.verdicts == {"accepted": 2}
    assert await hand.written("resume-commands") == 1, "the commit was redone"


@pytest.mark.long
async def test_killed_while_opening_a_slot(bootstrap: str, tmp_path: Path) -> None:
    """Faults 3 and 4: nothing comes out of half a state, and the next owner starts over."""
    site = await build_site(bootstrap, tmp_path, slots=2)
    hand = Hand(site)
    async with site.worker("first"):
        for number in range(8):
            hand.ask(f"thread-{number}", "run-1", question("a"), question("b"))
            hand.answer(f"thread-{number}", "run-1", "a")
        hand.flush()
        await hand.verdicts(8)
    before = await outputs(site)
    for number in range(8):
        hand.answer(f"thread-{number}", "run-1", "b")
    hand.flush()
    for rig in ("die-fenced", "die-restoring"):
        async with site.worker(rig, rigged(rig), ready=False) as victim:
            assert await victim.ended() == KILLED
        assert await outputs(site) == before
    async with site.worker("last"):
        await hand.commands(8)
        report = await site.settled()
    assert report.ok, report.summary()
    assert report.outcomes == {"resumed": 8}


async def outputs(site: Site) -> list[LogRecord]:
    """All that workers have committed."""
    return sorted(r for r in await site.records() if r.role not in {"input", "answers"})
