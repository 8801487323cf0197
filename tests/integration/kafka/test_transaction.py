"""One transaction of a slot: all or nothing, stamped by the broker, bounded in time."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, ProducerFenced

from bridge.demo.broker import DevBroker
from bridge.errors import ClusterError, Fenced, OutcomeUnknown, TopicsWrong, TransactionFailed
from bridge.kafka.aiokafka_internals import kill_producer
from bridge.kafka.transaction import Committed, SlotProducer
from bridge.records.outgoing import Outgoing
from tests.integration.kafka.slots import Slot, approval, state
from tests.topics import MakeTopics


async def test_one_commit_writes_every_role(slot: Slot) -> None:
    """Records reach their topic by role; the answer is the last state record's offset and time."""
    before = time.time() * 1000
    async with slot.opened() as producer:
        first = await producer.commit([state(b"a"), approval(b"q", b"open"), state(b"b")])
        second = await producer.commit([approval(b"q", None)])
    assert first.offset == 1
    assert first.timestamp is not None
    assert abs(first.timestamp - before) < 60_000
    assert second == Committed(None, None)
    assert await slot.visible(slot.approvals) == [b"open", None]


async def test_a_record_without_key_and_value_can_be_written(slot: Slot) -> None:
    """An empty record read from an input becomes a dead letter as it came: `send()` refuses it."""
    async with slot.opened() as producer:
        await producer.commit(
            [Outgoing("dead-letters", None, None, (("bridge-reason", b"empty"),))]
        )
    async with slot.raw() as stock:
        with pytest.raises(AssertionError):
            await stock.send(slot.topics["dead-letters"], None, partition=0)


async def test_more_than_a_batch_keeps_its_order(slot: Slot) -> None:
    """Two MiB that compression can't shrink go out as several batches, in order, in one piece."""
    records = [state(b"%d" % i, os.urandom(64 * 1024)) for i in range(32)]
    async with slot.opened() as producer:
        committed = await producer.commit(records)
    assert committed.offset == 31
    read = await slot.restored()
    assert read.pairs == [(record.key, record.value) for record in records]


async def test_the_slot_must_have_its_partition(slot: Slot) -> None:
    """A topic with fewer partitions than slots is told at the start, by name."""
    producer = SlotProducer(slot.client, slot.transactional_id, 1, slot.topics)
    with pytest.raises(TopicsWrong, match="no partition 1"):
        await producer.start()
    assert producer.life == "dead"


async def test_the_broker_is_told_when_to_give_up(slot: Slot) -> None:
    """The transaction timeout arrives there: a broker refuses one above its own 15 minutes."""
    with pytest.raises(ClusterError, match="InvalidTransactionTimeout"):
        async with slot.opened(timeout=16 * 60.0):
            pass


async def test_a_dead_producer_refuses(slot: Slot) -> None:
    """A producer is single-use after any failure; it says so instead of trying."""
    async with slot.opened() as producer:
        await producer.kill()
        with pytest.raises(TransactionFailed, match="open the slot again"):
            await producer.commit([state(b"a")])


# --- R4: await every send ----------------------------------------------------------------------

BIG = 20_000


async def small_state(slot: Slot, make_topics: MakeTopics) -> Slot:
    """The slot with a state topic that takes no batch of BIG bytes."""
    topics = await make_topics("small", config={"max.message.bytes": "10000"})
    return Slot(slot.bootstrap, slot.transactional_id, slot.topics | {"state": topics["small"]})


async def test_unawaited_sends_let_a_commit_publish_the_rest(
    slot: Slot, make_topics: MakeTopics
) -> None:
    """R4 off: the commit returns although the state record was refused; its output is visible."""
    slot = await small_state(slot, make_topics)
    async with slot.raw() as producer:
        await producer.begin_transaction()
        await producer.send(slot.approvals.topic, b"asked", partition=0)
        lost = await producer.send(slot.state.topic, os.urandom(BIG), partition=0)
        await producer.commit_transaction()
        with pytest.raises(MessageSizeTooLargeError):
            await lost
    assert await slot.visible(slot.approvals) == [b"asked"]
    assert await slot.visible(slot.state) == []


async def test_a_failed_send_fails_the_whole_transaction(
    slot: Slot, make_topics: MakeTopics
) -> None:
    """R4 on: nothing is committed, the producer is dead, and the next owner sees nothing of it."""
    slot = await small_state(slot, make_topics)
    async with slot.opened() as producer:
        with pytest.raises(TransactionFailed, match="MessageSizeTooLarge"):
            await producer.commit([approval(b"q"), state(b"k", os.urandom(BIG))])
        assert producer.life == "dead"
    async with slot.opened():
        assert await slot.visible(slot.approvals) == []
        assert await slot.visible(slot.state) == []


async def test_a_transaction_that_fails_has_told_the_time(
    slot: Slot, make_topics: MakeTopics
) -> None:
    """A worker whose outputs are refused still learns how far its clock is off."""
    small = await make_topics("small", config={"max.message.bytes": "10000"})
    slot = Slot(slot.bootstrap, slot.transactional_id, slot.topics | {"approvals": small["small"]})
    stamps: list[int] = []
    async with slot.opened(on_stamp=stamps.append) as producer:
        with pytest.raises(TransactionFailed, match="MessageSizeTooLarge"):
            await producer.commit([approval(b"q", os.urandom(BIG)), state(b"k")])
    (stamp,) = stamps
    assert abs(stamp - time.time() * 1000) < 60_000


# --- R5, R6: one deadline, then a hard kill; the outcome is unknown -----------------------------


async def test_a_deadline_ends_everything_while_the_broker_is_away(
    slot: Slot, broker: DevBroker
) -> None:
    """R5 on: a commit against a paused broker ends in time and leaves no task behind."""
    tasks = asyncio.all_tasks()
    async with slot.opened(deadline=1.0) as producer:
        broker.pause()
        try:
            started = time.monotonic()
            with pytest.raises(TransactionFailed, match="within 1 s"):
                await producer.commit([state(b"a")])
            assert time.monotonic() - started < 4
            assert asyncio.all_tasks() == tasks
        finally:
            broker.cont()


async def test_a_cancelled_commit_leaves_nothing(slot: Slot, broker: DevBroker) -> None:
    """A shutdown that cancels in mid-transaction kills the producer before it goes on."""
    tasks = asyncio.all_tasks()
    async with slot.opened() as producer:
        broker.pause()
        try:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(producer.commit([state(b"a")]), 0.2)
            assert producer.life == "dead"
            assert asyncio.all_tasks() == tasks
        finally:
            broker.cont()
    async with slot.opened():
        assert await slot.visible(slot.state) == []


async def test_stop_with_a_time_limit_leaves_tasks_alive(slot: Slot, broker: DevBroker) -> None:
    """R5 off: `wait_for(stop())` on a producer with an unsent batch ends, its tasks do not."""
    tasks = asyncio.all_tasks()
    producer = AIOKafkaProducer(**slot.client, transactional_id=slot.transactional_id)
    await producer.start()
    await producer.partitions_for(slot.state.topic)
    await producer.begin_transaction()
    broker.pause()
    try:
        future = await producer.send(slot.state.topic, b"value", partition=0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(producer.stop(), 1.0)
        left = asyncio.all_tasks() - tasks
        assert left
        await kill_producer(producer, 1.0)
        assert not {task for task in left if not task.done()}
        future.cancel()
    finally:
        broker.cont()


async def test_a_commit_past_its_deadline_may_still_happen(slot: Slot, broker: DevBroker) -> None:
    """R6: the commit that was given up is applied by itself; a repetition would double it."""

    def away_at_commit(_stamp: int) -> None:
        """Every record of the transaction is acknowledged, and its end is not requested yet."""
        broker.pause()

    producer = SlotProducer(
        *(slot.client, slot.transactional_id, 0, slot.topics),
        on_stamp=away_at_commit,
        deadline=2.0,
    )
    await producer.start()
    try:
        with pytest.raises(OutcomeUnknown, match="restore"):
            await producer.commit([state(b"once")])
    finally:
        broker.cont()
    async with slot.opened():
        read = await slot.restored()
    assert read.keys == [b"once"]


# --- R7, R10: what a fenced producer answers ----------------------------------------------------


async def test_a_fenced_producer_raises_what_is_no_kafka_error(slot: Slot) -> None:
    """R7: after a fatal error the client's state machine raises AssertionError."""
    async with slot.raw() as old, slot.opened():
        with suppress(ProducerFenced):
            async with old.transaction():
                await old.send_and_wait(slot.state.topic, b"late", partition=0)
        with pytest.raises(AssertionError) as caught:
            await old.begin_transaction()
    assert not isinstance(caught.value, KafkaError)


async def test_an_empty_commit_of_a_fenced_producer_is_ok(slot: Slot) -> None:
    """R10 off: the client commits nothing locally; only a record finds the fence."""
    async with slot.raw() as old, slot.opened():
        await old.begin_transaction()
        await old.commit_transaction()
        await old.begin_transaction()
        with pytest.raises(ProducerFenced):
            await old.send_and_wait(slot.state.topic, b"late", partition=0)


async def test_a_heartbeat_needs_a_record(slot: Slot) -> None:
    """R10 on: an empty commit is refused, and one with a record tells that the slot was taken."""
    async with slot.opened() as old:
        with pytest.raises(ValueError, match="heartbeat"):
            await old.commit([])
        async with slot.opened():
            with pytest.raises(Fenced, match="membership") as raised:
                await old.commit([state(b"position")])
    assert "ortransaction" not in str(raised.value)
    assert await slot.visible(slot.state) == []
