"""Reads topics whole, read_committed, into the checker's plain records. Reads only.

Ends at the last stable offset seen at the start, by position: the last record may be a
transaction marker that no reader is ever given.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from bridge.audit.log import LogRecord, Role

_POLL_MS = 100


async def read_topics(
    roles: Mapping[str, Role], *, timeout: float = 60.0, **client: Any
) -> list[LogRecord]:
    """Every committed record of these topics (topic name: role) up to now.

    `client` holds settings that every aiokafka client takes, at least bootstrap_servers. Raises
    LookupError for a topic that is not there, TimeoutError after `timeout` seconds.
    """
    partitions = await partitions_of(roles, **client)
    consumer = AIOKafkaConsumer(
        enable_auto_commit=False,
        isolation_level="read_committed",
        auto_offset_reset="none",
        **client,
    )
    await consumer.start()
    try:
        return await _read(consumer, partitions, roles, time.monotonic() + timeout)
    finally:
        await consumer.stop()


async def _read(
    consumer: AIOKafkaConsumer,
    partitions: list[TopicPartition],
    roles: Mapping[str, Role],
    deadline: float,
) -> list[LogRecord]:
    consumer.assign(partitions)
    starts = await consumer.beginning_offsets(partitions)
    ends = await consumer.end_offsets(partitions)
    for partition, start in starts.items():
        consumer.seek(partition, start)
    records: list[LogRecord] = []
    left = {partition for partition in partitions if starts[partition] < ends[partition]}
    while left:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(left)} partitions not read to their end")
        batches = await consumer.getmany(timeout_ms=_POLL_MS)
        for partition, batch in batches.items():
            records += [
                _plain(record, roles) for record in batch if record.offset < ends[partition]
            ]
        left = {p for p in left if await consumer.position(p) < ends[p]}
    return records


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


def _plain(record: Any, roles: Mapping[str, Role]) -> LogRecord:
    return LogRecord(
        roles[record.topic],
        record.topic,
        record.partition,
        record.offset,
        record.timestamp,
        record.key,
        record.value,
        tuple((name, value or b"") for name, value in record.headers),
    )
