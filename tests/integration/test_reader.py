"""The reader of whole topics: committed records only, to the end and on from there."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from aiokafka import AIOKafkaProducer

from bridge.errors import TopicsWrong
from bridge.kafka.clients import make_producer
from bridge.kafka.post import post
from bridge.kafka.reader import Reader, reading, snapshot
from tests.topics import MakeTopics


@asynccontextmanager
async def transactional(bootstrap: str) -> AsyncIterator[AIOKafkaProducer]:
    producer = make_producer({"bootstrap_servers": bootstrap}, f"reader-{uuid.uuid4()}")
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


async def write(producer: AIOKafkaProducer, topic: str, *values: bytes) -> None:
    for number, value in enumerate(values):
        await producer.send_and_wait(topic, value, partition=number % 2)


async def until(reader: Reader, count: int) -> Sequence[bytes | None]:
    """New values until there are `count`, within ten seconds."""
    found: list[bytes | None] = []
    for _ in range(100):
        found += [record.value for record in await reader.poll(0.1)]
        if len(found) >= count:
            break
    return found


async def test_a_snapshot_ends_behind_markers_and_leaves_out_what_was_aborted(
    bootstrap: str, make_topics: MakeTopics
) -> None:
    """The last offset of each partition is a marker, which no reader is ever given."""
    topic = (await make_topics("t", partitions=2))["t"]
    async with transactional(bootstrap) as producer:
        async with producer.transaction():
            await write(producer, topic, b"a", b"b", b"c")
        await producer.begin_transaction()
        await write(producer, topic, b"aborted", b"aborted")
        await producer.abort_transaction()
        records = await snapshot({"bootstrap_servers": bootstrap}, topic)
    assert [
        (r.origin.partition, r.value) for r in sorted(records, key=lambda r: r.value or b"")
    ] == [
        (0, b"a"),
        (1, b"b"),
        (0, b"c"),
    ]


async def test_an_open_transaction_is_not_waited_for(
    bootstrap: str, make_topics: MakeTopics
) -> None:
    """A worker that died inside a transaction must not hang a person's command."""
    topic = (await make_topics("t", partitions=2))["t"]
    async with transactional(bootstrap) as producer:
        async with producer.transaction():
            await write(producer, topic, b"a")
        await producer.begin_transaction()
        await write(producer, topic, b"open")
        records = await snapshot({"bootstrap_servers": bootstrap}, topic)
        await producer.abort_transaction()
    assert [record.value for record in records] == [b"a"]


async def test_a_reader_goes_on_after_the_end(bootstrap: str, make_topics: MakeTopics) -> None:
    topic = (await make_topics("t", partitions=2))["t"]
    client = {"bootstrap_servers": bootstrap}
    await post(client, topic, b"k", b"old", 1)
    async with reading(client, topic) as reader:
        assert [record.value async for record in reader.to_end()] == [b"old"]
        sent = await post(client, topic, b"k", b"new", 0)
        assert await until(reader, 1) == [b"new"]
        assert sent.offset == 0


async def test_a_reader_from_the_end_sees_only_what_comes(
    bootstrap: str, make_topics: MakeTopics
) -> None:
    """The end is fixed when the reader opens, so nothing posted after that is missed."""
    topic = (await make_topics("t"))["t"]
    client = {"bootstrap_servers": bootstrap}
    await post(client, topic, b"k", b"old", 0)
    async with reading(client, topic, start="end") as reader:
        await post(client, topic, b"k", b"new", 0)
        assert await until(reader, 1) == [b"new"]


async def test_empty_topics_are_read_at_once(bootstrap: str, make_topics: MakeTopics) -> None:
    names = await make_topics("a", "b", partitions=3)
    assert await snapshot({"bootstrap_servers": bootstrap}, *names.values()) == []


async def test_a_missing_topic_is_named(bootstrap: str) -> None:
    with pytest.raises(TopicsWrong, match="no-such-topic"):
        await snapshot({"bootstrap_servers": bootstrap}, "no-such-topic")
