"""What workers know is the log and nothing else, also when the cleaner has been there."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from bridge.audit.outside import State, restores_agree
from tests.chaos.hand import Hand, question
from tests.chaos.rigged import rigged
from tests.chaos.rounds import Site, build_site

# A cleaner in a hurry; a worker would not start on such a topic.
HURRY = {
    "segment.ms": "400",
    "delete.retention.ms": "300",
    "max.compaction.lag.ms": "500",
    "min.cleanable.dirty.ratio": "0.01",
}
FORGET = {"retention": {"closed": "4s"}}


def alter(site: Site, role: str, settings: dict[str, str]) -> None:
    """Change these settings of a topic and leave its others alone."""
    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in settings.items()
    ]
    resource = ConfigResource(ResourceType.TOPIC, site.names[role], incremental_configs=entries)
    admin = AdminClient({"bootstrap.servers": site.bootstrap})
    for done in admin.incremental_alter_configs([resource]).values():
        done.result(30)


async def test_restores_after_the_cleaner(bootstrap: str, tmp_path: Path) -> None:
    """I5 on a log that the cleaner has worked on, tombstones and markers included.

    A worker with an empty memory and an empty directory knows what the one before knew, byte for
    byte, and what was forgotten stays forgotten.
    """
    site = await build_site(bootstrap, tmp_path, slots=2, sections=FORGET)
    hand = Hand(site)
    async with site.worker("first", rigged("dump", str(tmp_path))):
        for number in range(20):
            hand.ask(f"closed-{number}", "run-1", question("a"))
            hand.answer(f"closed-{number}", "run-1", "a")
            hand.ask(f"open-{number}", "run-1", question("a"), question("b"))
            hand.answer(f"open-{number}", "run-1", "a")
        hand.answer("nobody-yet", "run-1", "a")
        hand.flush()
        await hand.commands(20)
        await forgotten(hand, 20)
    alter(site, "state", HURRY)
    before = await gaps(hand)
    await cleaned(site, hand, before)
    alter(site, "state", {**HURRY, "delete.retention.ms": "86400000"})
    (tmp_path / "elsewhere").mkdir()
    async with site.worker("second", rigged("dump", str(tmp_path / "elsewhere"))):
        found = [
            violation
            for slot in range(2)
            for violation in restores_agree(
                known(tmp_path / f"{slot}.closed"), known(tmp_path / "elsewhere" / f"{slot}.opened")
            )
        ]
        assert found == []
        hand.answer("closed-0", "run-1", "a")
        for number in range(20):
            hand.answer(f"open-{number}", "run-1", "b")
        hand.ask("nobody-yet", "run-1", question("a"))
        hand.flush()
        await hand.commands(41)
        report = await site.judge(compacted=True)
    assert report.ok, report.summary()
    assert report.verdicts == {"accepted": 61}


@pytest.mark.long
async def test_a_replay_asks_nothing_again(bootstrap: str, tmp_path: Path) -> None:
    """All input once more, with its own timestamps, after its runs were forgotten: too old."""
    site = await build_site(bootstrap, tmp_path, slots=2, sections=FORGET)
    hand = Hand(site)
    async with site.worker() as worker:
        for number in range(20):
            hand.ask(f"thread-{number}", "run-1", question("a"))
            hand.answer(f"thread-{number}", "run-1", "a")
        hand.flush()
        await hand.commands(20)
        await forgotten(hand, 20)
        for record in await site.records():
            if record.role == "input":
                hand.send(
                    record.topic,
                    record.value,
                    record.key,
                    partition=record.partition,
                    timestamp=record.timestamp,
                )
        hand.flush()
        async with asyncio.timeout(60):
            letters = await hand.records("dead-letters")
            while len(letters) < 20:
                await asyncio.sleep(0.3)
                letters = await hand.records("dead-letters")
        worker.kill()
        worker.start()
        await worker.ready()
        report = await site.settled()
    assert report.ok, report.summary()
    assert {letter.header("bridge-reason") for letter in letters} == {b"too_old"}
    assert report.figures["commands"] == 20


async def forgotten(hand: Hand, count: int) -> None:
    """Wait until so many approvals have their tombstone."""
    deadline = time.monotonic() + 60
    gone = 0
    while gone < count:
        assert time.monotonic() < deadline, f"{gone} of {count} forgotten"
        await asyncio.sleep(0.3)
        records = await hand.records("approvals")
        gone = sum(r.value is None and not (r.key or b"").startswith(b"__") for r in records)


async def gaps(hand: Hand) -> int:
    """How many records of the state topic can still be read."""
    return len(await hand.records("state"))


async def cleaned(site: Site, hand: Hand, before: int) -> None:
    """Have the cleaner work on the state topic until tombstones are gone.

    Only closed segments are cleaned, and a segment closes when something is written after its
    time: a key that no worker knows does.
    """
    deadline = time.monotonic() + 60
    while True:
        assert time.monotonic() < deadline, "the cleaner has not come"
        for partition in range(site.slots):
            hand.send(site.names["state"], b"-", b"unknown", partition=partition)
        hand.flush()
        await asyncio.sleep(1)
        records = await hand.records("state")
        if len(records) < before and all(record.value is not None for record in records):
            return


def known(path: Path) -> State:
    """A rig's dump as one map, its keys prefixed by what they are of."""
    return {
        f"{part}/{key}".encode(): json.dumps(values).encode()
        for part, entries in json.loads(path.read_text()).items()
        for key, values in entries.items()
    }
