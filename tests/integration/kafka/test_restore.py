"""Restoring a state partition: after fencing, to the high watermark, whatever lies at its end."""

from __future__ import annotations

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.errors import OffsetOutOfRangeError

from bridge.errors import Fenced
from bridge.kafka.clients import DATA_CONSUMER, make_consumer, start_consumer, stop_consumer
from bridge.kafka.restore import restore
from tests.integration.kafka.slots import Slot, killed_inside_a_transaction, state
from tests.topics import MakeTopics


async def test_an_empty_partition_restores_to_nothing(slot: Slot) -> None:
    """The first start of a deployment finds no record and no marker."""
    read = await slot.restored()
    assert (read.restored.high_watermark, read.restored.records, read.pairs) == (0, 0, [])


async def test_tombstones_are_handed_over(slot: Slot) -> None:
    """A partition of nothing but tombstones restores: they delete what came before them."""
    async with slot.opened() as producer:
        await producer.commit([state(b"a", None), state(b"b", None)])
    assert (await slot.restored()).pairs == [(b"a", None), (b"b", None)]


async def test_a_marker_at_the_end_does_not_hang(slot: Slot) -> None:
    """R3: the last offset belongs to the commit's marker, so no record ever equals HW - 1."""
    async with slot.opened() as producer:
        await producer.commit([state(b"a")])
        await producer.commit([state(b"b")])
    read = await slot.restored()
    assert read.restored.high_watermark == 4
    assert read.keys == [b"a", b"b"]
    assert read.batches[-1].offset < read.restored.high_watermark - 1


async def test_aborted_records_and_nothing_else(slot: Slot) -> None:
    """R3: a partition that holds only an aborted transaction restores to nothing, and ends."""
    await killed_inside_a_transaction(slot, b"lost")
    async with slot.opened():
        read = await slot.restored()
    assert (read.restored.high_watermark, read.pairs) == (2, [])


# --- R1: fence, then read -----------------------------------------------------------------------


async def test_what_is_read_before_fencing_is_stale(slot: Slot) -> None:
    """R1 off: the predecessor commits after the read, and the fence does not undo that."""
    async with slot.opened() as predecessor:
        await predecessor.commit([state(b"before")])
        too_early = await slot.restored()
        await predecessor.commit([state(b"between")])
        async with slot.opened():
            in_time = await slot.restored()
            with pytest.raises(Fenced):
                await predecessor.commit([state(b"after")])
    assert too_early.keys == [b"before"]
    assert in_time.keys == [b"before", b"between"]
    assert (await slot.restored()).keys == in_time.keys


async def test_fencing_settles_what_a_killed_worker_left_open(slot: Slot) -> None:
    """R1 on: before the fence a transaction is open; after it the last stable offset is the HW."""
    async with slot.opened() as first:
        await first.commit([state(b"kept")])
    await killed_inside_a_transaction(slot, b"lost")
    assert await slot.end("read_committed") < await slot.end("read_uncommitted")
    async with slot.opened():
        assert await slot.end("read_committed") == await slot.end("read_uncommitted")
        assert (await slot.restored()).keys == [b"kept"]


async def test_an_open_transaction_raises_the_alarm(slot: Slot) -> None:
    """R3: with somebody else's transaction open, the restore says where it waits, then goes on."""
    alarms: list[tuple[int, int]] = []
    keys: list[bytes | None] = []
    async with slot.raw() as open_one:
        await open_one.begin_transaction()
        await open_one.send_and_wait(slot.state.topic, b"value", b"late", partition=0)
        commit = None

        def alarm(stable: int, watermark: int) -> None:
            nonlocal commit
            alarms.append((stable, watermark))
            commit = commit or asyncio.create_task(open_one.commit_transaction())

        await restore(
            slot.client,
            slot.state.topic,
            0,
            lambda batch: keys.extend(record.key for record in batch),
            on_unsettled=alarm,
        )
    assert alarms[0] == (0, 1)
    assert keys == [b"late"]


# --- R14: no silent reset -----------------------------------------------------------------------


async def test_a_position_beyond_the_end_is_told_at_every_poll(slot: Slot) -> None:
    """R14 on: reset "none" raises again and again, so the slot can stop and say what to do."""
    async with slot.opened() as producer:
        await producer.commit([state(b"a")])
    consumer = make_consumer(slot.client, DATA_CONSUMER)
    await start_consumer(consumer)
    try:
        consumer.assign([slot.state])
        consumer.seek(slot.state, 1_000)
        for _ in range(2):
            with pytest.raises(OffsetOutOfRangeError):
                await consumer.getmany(slot.state, timeout_ms=10_000)
    finally:
        await stop_consumer(consumer)


async def test_reset_earliest_replays_without_a_word(slot: Slot) -> None:
    """R14 off: a position beyond the end starts over from the first record, silently."""
    async with slot.opened() as producer:
        await producer.commit([state(b"a")])
    async with AIOKafkaConsumer(
        **slot.client, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([slot.state])
        consumer.seek(slot.state, 1_000)
        polled = await consumer.getmany(slot.state, timeout_ms=10_000)
    assert [record.offset for record in polled[slot.state]] == [0]


async def test_every_partition_restores_by_itself(slot: Slot, make_topics: MakeTopics) -> None:
    """Records of another partition of the same topic don't come along."""
    topics = await make_topics("wide", partitions=2)
    async with slot.raw() as producer, producer.transaction():
        for partition in (0, 1):
            await producer.send_and_wait(topics["wide"], b"%d" % partition, partition=partition)
    values: list[bytes | None] = []
    await restore(
        slot.client, topics["wide"], 1, lambda batch: values.extend(r.value for r in batch)
    )
    assert values == [b"1"]
