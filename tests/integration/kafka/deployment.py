"""A deployment in this process: topics of a test's own, slots that run, and what they wrote."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from aiokafka import AIOKafkaProducer
from confluent_kafka import TopicPartition as ConfluentPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from bridge.core.ids import home_slot
from bridge.core.model import Limits, SourcePolicy
from bridge.core.schema import SchemaCache
from bridge.kafka.intake import StartFrom
from bridge.kafka.lease import Membership
from bridge.kafka.names import transactional_id
from bridge.kafka.post import post
from bridge.kafka.reader import snapshot
from bridge.kafka.setup import SlotSetup, SlotTimes
from bridge.kafka.slot import AskMembership, Slot
from bridge.observe.metrics import Metrics
from bridge.protocols import PROTOCOLS
from bridge.records.topics import OWN_INPUTS, Topics
from bridge.slot import state_codec as codec
from bridge.slot.desk import Desk, Source
from bridge.slot.engine import EngineTimes
from tests.topics import set_topic

QUICK = SlotTimes(engine=EngineTimes(takeover_grace=100), refresh=0.2, retry=0.2)


async def _member(_slot: int) -> Membership:
    return "member"


@dataclass(frozen=True)
class Deployment:
    """Topics by role, and the input topics of one source with where its first start reads from."""

    bootstrap: str
    app_id: str
    topics: Topics
    inputs: Mapping[str, StartFrom]
    slots: int = 1
    metrics: Metrics = field(default_factory=lambda: Metrics("test"))
    source: str = "agents"

    @property
    def client(self) -> dict[str, Any]:
        return {"bootstrap_servers": self.bootstrap}

    @cached_property
    def admin(self) -> AdminClient:
        """An independent client's hand on the cluster; its answers come as long as it is kept."""
        return AdminClient({"bootstrap.servers": self.bootstrap})

    def transactional_id(self, slot: int = 0) -> str:
        """By which the brokers know whoever serves the slot."""
        return transactional_id(self.app_id, self.topics["state"], slot)

    def starting(self, start: StartFrom) -> Deployment:
        """The same with another `start_from` in its settings."""
        return replace(self, inputs=dict.fromkeys(self.inputs, start))

    def slot(
        self,
        number: int = 0,
        times: SlotTimes = QUICK,
        membership: AskMembership = _member,
    ) -> Slot:
        source = Source(self.source, PROTOCOLS["ag-ui"], SourcePolicy())
        desk = Desk(
            number,
            self.slots,
            dict.fromkeys(self.inputs, source),
            self.topics,
            Limits(),
            SchemaCache(16),
        )
        own: dict[str, StartFrom] = dict.fromkeys((self.topics[r] for r in OWN_INPUTS), "earliest")
        setup = SlotSetup(
            app_id=self.app_id,
            client=self.client,
            topics=self.topics,
            inputs={**self.inputs, **own},
            cycle_max=500,
            metrics=self.metrics,
            times=times,
        )
        return Slot(desk, setup, membership)

    @asynccontextmanager
    async def running(
        self,
        number: int = 0,
        times: SlotTimes = QUICK,
        membership: AskMembership = _member,
    ) -> AsyncIterator[Slot]:
        """A slot that serves in this process until the block ends."""
        slot = self.slot(number, times, membership)
        task = asyncio.create_task(slot.run())
        try:
            yield slot
        finally:
            slot.stop()
            await task

    async def ask(self, thread: str, topic: str | None = None, partition: int = 0) -> None:
        """A run of this thread ends with a question."""
        topic = topic or next(iter(self.inputs))
        await post(self.client, topic, thread.encode(), question(thread), partition)

    async def asked(self) -> list[str]:
        """The threads whose questions were published, in order."""
        found = await snapshot(self.client, self.topics["approvals"])
        return [json.loads(each.value)["thread_id"] for each in found if each.value]

    async def stored(self, topic: str) -> dict[int, int]:
        """Stored positions of a topic by partition."""
        positions: dict[int, int] = {}
        for record in await snapshot(self.client, self.topics["state"]):
            if record.key and record.key.startswith(codec.POSITION_PREFIX) and record.value:
                name, partition = codec.read_position_key(record.key)
                if name == topic:
                    positions[partition] = codec.decode_position(record.value)
        return positions

    @asynccontextmanager
    async def transaction(self, name: str = "agent") -> AsyncIterator[AIOKafkaProducer]:
        """An agent's transactional producer."""
        producer = AIOKafkaProducer(**self.client, transactional_id=f"{self.app_id}-{name}")
        async with producer:
            yield producer

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        """Retention strikes: offsets below `before` are gone."""
        asked = self.admin.delete_records([ConfluentPartition(topic, partition, before)])
        for done in asked.values():
            done.result(20)

    def add_partitions(self, topic: str, total: int) -> None:
        for done in self.admin.create_partitions([NewPartitions(topic, total)]).values():
            done.result(20)

    def set_topic(self, topic: str, name: str, value: str) -> None:
        """Change one setting of a topic."""
        set_topic(self.admin, topic, name, value)

    def delete_topic(self, topic: str) -> None:
        for done in self.admin.delete_topics([topic]).values():
            done.result(20)


Deploy = Callable[..., Awaitable[Deployment]]
"""`await deploy(slots, start, events=3)`: topics of this test's own, inputs by name."""


def question(thread: str) -> bytes:
    """A run-finished event that asks one thing."""
    return json.dumps(
        {
            "type": "RUN_FINISHED",
            "threadId": thread,
            "runId": "run-1",
            "outcome": {
                "type": "interrupt",
                "interrupts": [{"id": "int-1", "reason": "tool_call"}],
            },
        }
    ).encode()


def at_home(slot: int, slots: int, number: int = 0) -> str:
    """The name of a thread whose home is this slot."""
    names = (f"thread-{number}-{i}" for i in range(1_000))
    return next(name for name in names if home_slot(name, slots) == slot)


async def until(holds: Callable[[], bool], within: float = 30.0) -> None:
    """Look every 20 ms; raises TimeoutError."""
    for _ in range(round(within / 0.02)):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise TimeoutError(f"not within {within:g} s")


async def eventually(
    ask: Callable[[], Awaitable[Any]], good: Callable[[Any], bool], within: float = 20.0
) -> None:
    """Ask every 100 ms until the answer is good; raises TimeoutError with the last one."""
    deadline = time.monotonic() + within
    found = await ask()
    while not good(found):
        if time.monotonic() > deadline:
            raise TimeoutError(f"still {found} after {within:g} s")
        await asyncio.sleep(0.1)
        found = await ask()


async def caught_up(slot: Slot, within: float = 30.0) -> float:
    """Until the slot serves and nothing is left to read; seconds it took."""
    began = time.monotonic()
    await until(
        lambda: slot.state == "serving" and not sum(slot.figures().lag.values()), within=within
    )
    return time.monotonic() - began
