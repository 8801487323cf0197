"""What tests of the Kafka side build on: a slot's address, records of it, and raw clients of
aiokafka as it is, for the runs with a rule switched off.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.structs import ConsumerRecord, TopicPartition

from bridge.kafka.aiokafka_internals import kill_producer
from bridge.kafka.restore import Restored, restore
from bridge.kafka.transaction import SlotProducer
from bridge.records.outgoing import Outgoing
from bridge.records.topics import Topics


def state(key: bytes, value: bytes | None = b"value") -> Outgoing:
    return Outgoing("state", key, value)


def approval(key: bytes, value: bytes | None = b"value") -> Outgoing:
    return Outgoing("approvals", key, value)


@dataclass(frozen=True)
class Slot:
    """Slot 0: how to reach its cluster, its transactional id, its topics by role."""

    bootstrap: str
    transactional_id: str
    topics: Topics

    @property
    def client(self) -> dict[str, Any]:
        return {"bootstrap_servers": self.bootstrap}

    @property
    def state(self) -> TopicPartition:
        return TopicPartition(self.topics["state"], 0)

    @property
    def approvals(self) -> TopicPartition:
        return TopicPartition(self.topics["approvals"], 0)

    @asynccontextmanager
    async def opened(self, **options: Any) -> AsyncIterator[SlotProducer]:
        """A started producer of the slot, dead afterwards in any case."""
        producer = SlotProducer(self.client, self.transactional_id, 0, self.topics, **options)
        try:
            await producer.start()
            yield producer
        finally:
            await producer.kill()

    @asynccontextmanager
    async def raw(self, **options: Any) -> AsyncIterator[AIOKafkaProducer]:
        """aiokafka's own producer under the slot's transactional id, killed afterwards."""
        producer = AIOKafkaProducer(
            **self.client, transactional_id=self.transactional_id, **options
        )
        try:
            await producer.start()
            yield producer
        finally:
            await kill_producer(producer, 1.0)

    async def restored(self, *written: TopicPartition) -> Read:
        """What a restore reads now, which wants these partitions settled too."""
        read = Read()
        read.restored = await restore(
            self.client,
            self.state.topic,
            self.state.partition,
            read.batches.extend,
            written=written,
        )
        return read

    async def end(self, isolation: str, target: TopicPartition | None = None) -> int:
        """The end offset: high watermark (read_uncommitted) or last stable (read_committed)."""
        async with AIOKafkaConsumer(**self.client, isolation_level=isolation) as consumer:
            where = target or self.state
            return int((await consumer.end_offsets([where]))[where])

    async def visible(self, target: TopicPartition) -> list[bytes | None]:
        """The values a read_committed reader gets, up to the last stable offset as it is now."""
        async with AIOKafkaConsumer(
            **self.client, isolation_level="read_committed", auto_offset_reset="none"
        ) as consumer:
            consumer.assign([target])
            consumer.seek(target, 0)
            end = (await consumer.end_offsets([target]))[target]
            values: list[bytes | None] = []
            async with asyncio.timeout(20):
                while await consumer.position(target) < end:
                    polled = await consumer.getmany(target, timeout_ms=50)
                    values += [record.value for record in polled.get(target, [])]
            return values


@dataclass
class Read:
    """Everything one restore handed over."""

    batches: list[ConsumerRecord] = field(default_factory=list)
    restored: Restored = field(default_factory=lambda: Restored(0, 0, 0.0))

    @property
    def pairs(self) -> list[tuple[bytes | None, bytes | None]]:
        return [(record.key, record.value) for record in self.batches]

    @property
    def keys(self) -> list[bytes | None]:
        return [record.key for record in self.batches]


async def killed_inside_a_transaction(slot: Slot, key: bytes, timeout: float = 15) -> None:
    """A worker process writes `key` to the state partition and is SIGKILLed before it commits.

    `timeout` (seconds) is when the broker gives its transaction up.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.integration.kafka.victim"),
        *(slot.bootstrap, slot.transactional_id, json.dumps(dict(slot.topics)), key.decode()),
        str(timeout),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(30):
            assert await process.stdout.readline() == b"acknowledged\n"
    finally:
        process.send_signal(signal.SIGKILL)
        await process.wait()
