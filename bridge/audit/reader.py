"""Reads topics read_committed, into the checker's plain records. Reads only.

Ends at the last stable offset seen at the start, by position: the last record may be a
transaction marker that no reader is ever given.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from bridge.audit.log import Begin, LogRecord, Role

_POLL_MS = 100
_AT_ONCE = 2_000  # records of a poll: what is decoded and not yet judged
_FETCH_BYTES = 4 * 1024 * 1024  # of a partition: round trips stay out of the rate

Progress = Callable[[int, int], None]
"""Is called with how many records were read, and about how many there are."""


class Topics:
    """Some topics as they stood when this was made by `opened`; can be read more than once."""

    def __init__(
        self,
        consumer: AIOKafkaConsumer,
        roles: Mapping[str, Role],
        bounds: Mapping[TopicPartition, tuple[int, int]],
        begins: dict[tuple[str, int], Begin],
        stalled: float,
    ) -> None:
        """`bounds`: the first offset to read, and the one to end before."""
        self._consumer = consumer
        self.roles = roles
        self._bounds = bounds
        self._stalled = stalled
        self.begins = begins

    def size(self, topics: Collection[str]) -> int:
        """The offsets that these topics have; some may hold markers, or nothing any more."""
        return sum(end - first for p, (first, end) in self._bounds.items() if p.topic in topics)

    async def records(self, topics: Collection[str]) -> AsyncIterator[LogRecord]:
        """Every committed record of these topics, in order within a partition.

        Raises TimeoutError when nothing comes for as long as `opened` was given.
        """
        bounds = {p: at for p, at in self._bounds.items() if p.topic in topics and at[0] < at[1]}
        # Nothing may run in between: with reset "none" a partition without a place is an error.
        self._consumer.assign(list(bounds))
        for partition, (first, _) in bounds.items():
            self._consumer.seek(partition, first)
        left, moved = dict(bounds), time.monotonic()
        while left:
            batches = await self._consumer.getmany(timeout_ms=_POLL_MS)
            if batches:
                moved = time.monotonic()
            elif time.monotonic() - moved > self._stalled:
                raise TimeoutError(f"{len(left)} partitions not read to their end")
            for partition, batch in batches.items():
                name = (partition.topic, partition.partition)
                if name in self.begins and self.begins[name].since is None:
                    # Retention takes whole segments from the front: behind them nothing is gone.
                    self.begins[name] = Begin(self.begins[name].offset, batch[0].timestamp)
                for record in batch:
                    if record.offset < bounds[partition][1]:
                        headers = tuple((key, value or b"") for key, value in record.headers)
                        place = (record.topic, record.partition, record.offset, record.timestamp)
                        role = self.roles[record.topic]
                        yield LogRecord(role, *place, record.key, record.value, headers)
            positions = {p: await self._consumer.position(p) for p in left}
            left = {p: at for p, at in left.items() if positions[p] < at[1]}


@asynccontextmanager
async def opened(
    roles: Mapping[str, Role], *, since: int | None = None, stalled: float = 60.0, **client: Any
) -> AsyncIterator[Topics]:
    """These topics (name: role) from their beginning, or from `since`, to their end as of now.

    `since` in milliseconds by the records' timestamps, of all but approvals; `client` holds
    settings that every aiokafka client takes, at least bootstrap_servers. Raises LookupError for a
    topic that is not there.
    """
    partitions = await partitions_of(roles, **client)
    settings = {
        "max_poll_records": _AT_ONCE,
        "max_partition_fetch_bytes": _FETCH_BYTES,
        **client,
        "enable_auto_commit": False,
        "isolation_level": "read_committed",
        "auto_offset_reset": "none",
    }
    consumer = AIOKafkaConsumer(**settings)
    await consumer.start()
    try:
        ends = await consumer.end_offsets(partitions)
        earliest = await consumer.beginning_offsets(partitions)
        firsts = dict(earliest)
        if since is not None:
            # Approvals are compacted, and say which runs are known: those are read whole.
            cut = [p for p in partitions if roles[p.topic] != "approvals"]
            found = await consumer.offsets_for_times(dict.fromkeys(cut, since))
            firsts |= {p: at.offset if (at := found[p]) else ends[p] for p in cut}
        begins = {
            (p.topic, p.partition): Begin(first, since if first > earliest[p] else None)
            for p, first in firsts.items()
            if first > 0
        }
        bounds = {p: (firsts[p], ends[p]) for p in partitions}
        yield Topics(consumer, roles, bounds, begins, stalled)
    finally:
        await consumer.stop()


async def read_topics(
    roles: Mapping[str, Role], *, timeout: float = 60.0, **client: Any
) -> list[LogRecord]:
    """Every committed record of these topics (topic name: role) up to now.

    `client` holds settings that every aiokafka client takes, at least bootstrap_servers. Raises
    LookupError for a topic that is not there, TimeoutError when nothing comes for `timeout`
    seconds.
    """
    async with opened(roles, stalled=timeout, **client) as topics:
        return [record async for record in topics.records(roles)]


async def partitions_of(topics: Iterable[str], **client: Any) -> list[TopicPartition]:
    """All partitions of these topics. Raises LookupError for a topic that is not there."""
    admin = AIOKafkaAdminClient(**client)
    await admin.start()
    try:
        described = {topic["topic"]: topic for topic in await admin.describe_topics()}
    finally:
        await admin.close()
    found = []
    for topic in topics:
        if topic not in described:
            raise LookupError(f"topic {topic!r} does not exist")
        numbers = sorted(part["partition"] for part in described[topic]["partitions"])
        found += [TopicPartition(topic, number) for number in numbers]
    return found
