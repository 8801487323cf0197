"""Whole topics for people and tools: read_committed, from an end, no group, nothing committed.

Not for slots: they fence first and read to a high watermark. This reads what any other team's
consumer would see.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, Literal

from aiokafka import AIOKafkaConsumer
from aiokafka.structs import ConsumerRecord, TopicPartition

from bridge.core.model import Origin
from bridge.core.record import Record
from bridge.errors import ClusterError, RecordUnreadable, TopicsWrong
from bridge.kafka.clients import (
    DATA_CONSUMER,
    ClientSettings,
    make_consumer,
    start_consumer,
    stop_consumer,
)
from bridge.kafka.topic_admin import connected

Start = Literal["beginning", "end"]

Tell = Callable[[RecordUnreadable], None]
"""Hears of a record that cannot be decoded, before reading goes on behind its batch."""

# A looker-on may step over what retention took between two polls; it decides nothing.
_READER: Final[ClientSettings] = {
    **DATA_CONSUMER,
    "auto_offset_reset": "earliest",
    "max_poll_records": None,
}
_POLL_MS: Final = 100
_STALL_SECONDS: Final = 30.0  # three times the request timeout of 8 s, and some room


class Reader:
    """Reads all partitions of some topics; made by `reading`."""

    def __init__(
        self,
        consumer: AIOKafkaConsumer,
        partitions: Sequence[TopicPartition],
        unreadable: Tell | None = None,
    ) -> None:
        self._consumer = consumer
        self._partitions = partitions
        self._unreadable = unreadable
        self._next: dict[TopicPartition, int] = {}

    @property
    def partition_count(self) -> int:
        """Of all topics together."""
        return len(self._partitions)

    async def seek(self, start: Start) -> None:
        """Stand before the first record, or behind the last one that is committed now."""
        find = self._consumer.beginning_offsets
        offsets = await (find if start == "beginning" else self._ends)(self._partitions)
        self._next = dict(offsets)
        self._seek()

    async def to_end(self) -> AsyncIterator[Record]:
        """Every record up to the end as it stands at the call, in order within a partition.

        The end is the last stable offset: it doesn't wait for transactions that are still open.
        Raises ClusterError when nothing comes for half a minute, and RecordUnreadable where nobody
        wants to hear of it.
        """
        ends = await self._ends(self._partitions)
        moved = time.monotonic()
        while not all(
            [await self._consumer.position(tp) >= end for tp, end in ends.items()]
        ):  # by position, not by record: the last offset may be a transaction marker
            records = await self._poll(_POLL_MS)
            if records:
                moved = time.monotonic()
            elif time.monotonic() - moved > _STALL_SECONDS:
                names = ", ".join(sorted({partition.topic for partition in self._partitions}))
                raise ClusterError(
                    f"no record for {_STALL_SECONDS:.0f} s before the end of {names}: "
                    "check that the partitions have leaders"
                )
            for record in records:
                yield record

    async def poll(self, seconds: float) -> list[Record]:
        """New records; waits up to `seconds` for the first, then returns what has come."""
        return await self._poll(round(seconds * 1_000))

    async def _poll(self, timeout_ms: int) -> list[Record]:
        # The client's own time-out: a cancelled getmany would break the consumer.
        try:
            polled = await self._consumer.getmany(timeout_ms=timeout_ms)
        except RecordUnreadable as error:
            if self._unreadable is None:
                raise
            self._unreadable(error)
            self._next[TopicPartition(error.topic, error.partition)] = error.behind
            self._seek()  # all of them: what others gave in that call went with the error
            return []
        self._next |= {tp: records[-1].offset + 1 for tp, records in polled.items()}
        return [record_of(each) for records in polled.values() for each in records]

    def _seek(self) -> None:
        for partition, offset in self._next.items():
            self._consumer.seek(partition, offset)

    async def _ends(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        ends: dict[TopicPartition, int] = await self._consumer.end_offsets(partitions)
        return ends


@asynccontextmanager
async def reading(
    client: ClientSettings,
    *topics: str,
    start: Start = "beginning",
    unreadable: Tell | None = None,
) -> AsyncIterator[Reader]:
    """A reader of these topics. Raises TopicsWrong when one is missing, or Unreachable.

    Without `unreadable`, a record that cannot be decoded ends the reading with RecordUnreadable.
    """
    partitions = [
        TopicPartition(topic, number)
        for topic, count in (await partition_counts(client, *topics)).items()
        for number in range(count)
    ]
    consumer = make_consumer(client, _READER)
    await start_consumer(consumer)
    try:
        consumer.assign(partitions)
        reader = Reader(consumer, partitions, unreadable)
        await reader.seek(start)
        yield reader
    finally:
        await stop_consumer(consumer)


async def snapshot(client: ClientSettings, *topics: str) -> list[Record]:
    """All committed records of these topics as of now."""
    async with reading(client, *topics) as reader:
        return [record async for record in reader.to_end()]


async def partition_counts(client: ClientSettings, *topics: str) -> dict[str, int]:
    """How many partitions each topic has. Raises TopicsWrong when one is missing."""
    async with connected(client) as admin:
        # Asking for all: asking for one by name would create it where brokers auto-create.
        found = {
            topic["topic"]: len(topic["partitions"]) for topic in await admin.describe_topics()
        }
    missing = [topic for topic in topics if not found.get(topic)]
    if missing:
        raise TopicsWrong(
            f"topic {missing[0]} does not exist, or this principal may not see it: run "
            "interrupt-bridge topics check"
        )
    return {topic: found[topic] for topic in topics}


def record_of(read: ConsumerRecord) -> Record:
    """The record without its client."""
    origin = Origin(read.topic, read.partition, read.offset, read.timestamp)
    return Record(read.value, read.key, read.headers, origin)
