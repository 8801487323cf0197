"""Wall clocks that are hours off decide nothing; the broker's time does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.agents.instants import in_future
from tests.chaos.hand import Hand, question
from tests.chaos.metering import figure
from tests.chaos.rigged import rigged
from tests.chaos.rounds import build_site

HOURS = 7_200


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
        async with site.worker(name, rigged("clock", str(seconds))) as worker:
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
