"""Input topics with other partition counts than the bridge has slots, and keys that lead astray."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.hand import Hand, question
from tests.chaos.rounds import build_site, working

THREADS = 30


@pytest.mark.parametrize("partitions", [7, pytest.param(2, marks=pytest.mark.long)])
async def test_other_partition_counts_and_wrong_keys(
    bootstrap: str, tmp_path: Path, partitions: int
) -> None:
    """More and fewer partitions than slots, every record under a key of its own.

    A third of the records has no key, a third another client's partitioner, a third a wrong key.
    """
    site = await build_site(bootstrap, tmp_path, slots=4, input_partitions=partitions)
    hand, crc = Hand(site), Hand(site, partitioner="consistent_random")
    keys = {0: None, 1: b"one-key-for-all", 2: b"\xff\xfe\x00"}
    async with working(site, 2) as workers:
        for number in range(THREADS):
            thread, key = f"thread-{number}", keys[number % 3]
            hand.ask(
                thread,
                "run-1",
                question("a"),
                question("b"),
                key=key,
                partition=number % partitions,
            )
            crc.answer(thread, "run-1", "a", key=thread.encode())
            crc.answer(thread, "run-1", "b", key=key, by_id=True)
        hand.flush()
        crc.flush()
        await hand.commands(THREADS)
        workers[0].kill()
        for number in range(THREADS):
            crc.ask(f"thread-{number}", "run-2", question("a"))
            crc.answer(f"thread-{number}", "run-2", "a", by_id=True, key=b"elsewhere")
        crc.flush()
        await hand.commands(2 * THREADS)
        report = await site.settled()
    assert report.ok, report.summary()
    assert report.outcomes == {"resumed": 2 * THREADS}
    assert report.figures["hops"] > THREADS
