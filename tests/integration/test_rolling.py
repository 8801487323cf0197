"""Settings change under work, one worker after the other: all is asked once, and nothing stops."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import NewTopic

from bridge.core.ids import home_slot
from bridge.kafka import topic_admin
from bridge.kafka.reader import snapshot
from bridge.kafka.topics import Wanted
from bridge.records.topics import Topics
from tests.chaos.workers import Worker, write_config
from tests.integration.kafka.deployment import eventually, question
from tests.topics import create_topics

SLOTS = 4
PACE_S = 0.05


@dataclass
class Team:
    """Workers with settings of their own, and whoever writes to them."""

    bootstrap: str
    app: str
    directory: Path
    workers: list[Worker]
    sources: dict[str, str]  # topic by name
    topics: Topics
    asked: list[str] = field(default_factory=list)  # threads of events that were written
    answered: list[str] = field(default_factory=list)  # threads of answers that were written
    heard: list[int] = field(default_factory=list)  # bytes of each log before anything changed

    def configure(self, number: int, *, sources: Mapping[str, str]) -> None:
        write_config(
            self.directory / f"{number}.toml",
            self.bootstrap,
            self.topics,
            sources,
            partitions=SLOTS,
            app_id=self.app,
            sections={"worker": {"takeover_grace": "500ms", "reroute_grace": "200ms"}},
        )

    async def restart(self, number: int, sources: Mapping[str, str]) -> None:
        """What a rolling restart does with one of them."""
        self.configure(number, sources=sources)
        assert await self.workers[number].stop() == 0
        self.workers[number].start()
        await self.workers[number].ready()

    async def roll(self, sources: Mapping[str, str]) -> None:
        for number in range(len(self.workers)):
            await self.restart(number, sources)

    async def make(self, *names: str) -> list[str]:
        """Topics like those of the agents and senders."""
        topics = [f"{self.app}.{name}" for name in names]
        config = {"message.timestamp.type": "LogAppendTime"}
        await create_topics(
            self.bootstrap, [NewTopic(t, SLOTS, 1, topic_configs=config) for t in topics]
        )
        return topics

    @asynccontextmanager
    async def writing(self, source: str, topic: Callable[[], str]) -> AsyncIterator[None]:
        """Events of new threads all the time, each on the partition of another slot."""
        stop = asyncio.Event()

        async def write() -> None:
            async with AIOKafkaProducer(bootstrap_servers=self.bootstrap) as producer:
                number = 0
                while not stop.is_set():
                    thread = f"{source}-{topic()}-{number}"
                    away = (home_slot(thread, SLOTS) + 1) % SLOTS
                    await producer.send_and_wait(topic(), question(thread), partition=away)
                    self.asked.append(thread)
                    number += 1
                    await asyncio.sleep(PACE_S)

        task = asyncio.create_task(write())
        try:
            yield
        finally:
            stop.set()
            await task

    async def answer(self, source: str, topic: str, threads: Sequence[str]) -> None:
        """An answer for each of these threads, on the partition of another slot."""
        async with AIOKafkaProducer(bootstrap_servers=self.bootstrap) as producer:
            for thread in threads:
                body = {
                    "source": source,
                    "thread_id": thread,
                    "run_id": "run-1",
                    "interrupt_id": "int-1",
                    "status": "resolved",
                    "payload": True,
                }
                away = (home_slot(thread, SLOTS) + 1) % SLOTS
                await producer.send_and_wait(topic, json.dumps(body).encode(), partition=away)
                self.answered.append(thread)

    async def published(self, role: str) -> list[dict[str, Any]]:
        client = {"bootstrap_servers": self.bootstrap}
        found = await snapshot(client, self.topics[role])
        return [json.loads(each.value) for each in found if each.value]

    async def pending(self) -> Counter[str]:
        """How often each thread was asked."""
        return Counter(
            each["thread_id"]
            for each in await self.published("approvals")
            if each["status"] == "pending"
        )

    async def done(self) -> None:
        """Until every event is asked and every answer judged; each of them exactly once."""
        await eventually(self.pending, lambda found: found.keys() >= set(self.asked), within=60)
        assert await self.pending() == Counter(self.asked)
        await eventually(self.verdicts, lambda found: len(found) >= len(self.answered), within=60)
        assert await self.verdicts() == ["accepted"] * len(self.answered)
        assert not await snapshot(
            {"bootstrap_servers": self.bootstrap}, self.topics["dead-letters"]
        )

    async def verdicts(self) -> list[str]:
        return [each["verdict"] for each in await self.published("answer-verdicts")]

    def complaints(self) -> list[str]:
        """What workers logged above information since they were at work."""
        lines = [
            json.loads(line)
            for worker, heard in zip(self.workers, self.heard, strict=True)
            for line in worker.log.read_bytes()[heard:].splitlines()
            if line.startswith(b"{")
        ]
        return [str(line) for line in lines if line["level"] not in ("info", "debug")]


@pytest.fixture
async def team(bootstrap: str, tmp_path: Path, unique: Callable[[str], str]) -> AsyncIterator[Team]:
    """Two workers at work that know one source, `agents`."""
    app = unique("app")
    names = Topics.under(f"{app}.")
    it = Team(bootstrap, app, tmp_path, [], {}, names)
    (events,) = await it.make("agents")
    it.sources["agents"] = events
    wanted = Wanted(names=names, inputs=(events,), partitions=SLOTS, bootstrap=bootstrap)
    await topic_admin.create({"bootstrap_servers": bootstrap}, wanted)
    for number in range(2):
        it.configure(number, sources=it.sources)
        it.workers.append(Worker(f"w{number}", tmp_path / f"{number}.toml", tmp_path))
    try:
        for worker in it.workers:
            worker.start()
        await asyncio.gather(*(worker.ready() for worker in it.workers))
        it.heard = [worker.log.stat().st_size for worker in it.workers]
        yield it
    finally:
        for worker in it.workers:
            worker.kill()


async def test_a_source_is_added(team: Team) -> None:
    """Its events were taken for operations by workers that did not know it; now they wait."""
    (new,) = await team.make("new")
    both = {**team.sources, "new": new}
    async with (
        team.writing("agents", lambda: team.sources["agents"]),
        team.writing("new", lambda: new),
    ):
        await team.restart(0, both)
        waiting = (await team.workers[0].readiness())["sources_waiting"]
        assert isinstance(waiting, dict)
        assert list(waiting) == ["new"]
        assert not any(thread.startswith("new-") for thread in await team.pending())
        await team.restart(1, both)
        assert (await team.workers[1].readiness())["sources_waiting"] == {}
    await team.done()
    assert team.complaints() == []


async def test_a_source_is_removed(team: Team) -> None:
    """Once nothing of it is under way or pending; the others do not notice."""
    (old,) = await team.make("old")
    await team.roll({**team.sources, "old": old})
    async with team.writing("old", lambda: old):
        await asyncio.sleep(1)
    await team.done()
    await team.answer("old", team.topics["answers"], list(team.asked))
    async with team.writing("agents", lambda: team.sources["agents"]):
        await team.roll(team.sources)
    await team.done()
    assert team.complaints() == []


async def test_a_source_that_one_worker_lost_waits_until_it_is_back(team: Team) -> None:
    """Removed too early, or rolled back: nothing of it is judged as something else meanwhile."""
    (old,) = await team.make("old")
    both = {**team.sources, "old": old}
    await team.roll(both)
    async with team.writing("old", lambda: old):
        await asyncio.sleep(1)
        team.configure(0, sources=team.sources)
        await team.workers[0].stop()
        team.workers[0].start()
        await eventually(team.workers[1].readiness, lambda told: "old" in told["sources_waiting"])
    await team.restart(0, both)
    await team.done()


async def test_a_sources_topic_is_renamed(team: Team) -> None:
    """The agents are turned to the new topic first, and the old one is read."""
    old = team.sources["agents"]
    (new,) = await team.make("agents-2")
    turned = [old]
    async with team.writing("agents", lambda: turned[-1]):
        await asyncio.sleep(1)
        turned.append(new)
        before = [thread for thread in team.asked if old in thread]
        await eventually(team.pending, lambda found: found.keys() >= set(before), within=60)
        await team.roll({"agents": new})
    await team.done()
    assert team.complaints() == []


async def test_the_answers_topic_is_renamed(team: Team) -> None:
    """Answers on their way under the old name are judged as the answers that they are."""
    (new,) = await team.make("replies")
    async with team.writing("agents", lambda: team.sources["agents"]):
        await asyncio.sleep(1)
    await team.done()
    half = len(team.asked) // 2
    await team.answer("agents", team.topics["answers"], team.asked[:half])
    await team.done()
    team.topics = team.topics | {"answers": new}
    await team.answer("agents", new, team.asked[half:])
    await team.roll(team.sources)
    await team.done()
    assert team.complaints() == []
