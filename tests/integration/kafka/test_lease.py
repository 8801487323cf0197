"""The lease: who should serve a slot, and whom a fence came from."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.client import AIOKafkaClient, CoordinationType
from aiokafka.errors import ProducerFenced
from aiokafka.protocol.group import LeaveGroupRequest
from aiokafka.structs import TopicPartition

from bridge.demo.broker import DevBroker
from bridge.kafka.lease import Lease
from tests.integration.kafka.slots import Slot
from tests.topics import MakeTopics

SLOTS = 4


@pytest.fixture
async def seats(
    bootstrap: str, make_topics: MakeTopics, unique: Callable[[str], str]
) -> Callable[..., Any]:
    """`async with seats() as lease` joins one more worker to this test's group."""
    topics = await make_topics("seats", partitions=SLOTS)

    @asynccontextmanager
    async def seat(**client: Any) -> AsyncIterator[Lease]:
        settings = {"bootstrap_servers": bootstrap, **client}
        lease = Lease(settings, unique("group"), topics["seats"], SLOTS)
        try:
            await lease.join()
            yield lease
        finally:
            await lease.kill()

    return seat


async def assigned(lease: Lease, wanted: int, within: float) -> float:
    """Wait until the lease has so many slots; seconds it took."""
    started = time.monotonic()
    async with asyncio.timeout(within):
        while len(lease.assigned) != wanted:
            lease.changed.clear()
            await lease.changed.wait()
    return time.monotonic() - started


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    """Ask again and again, for at most 30 s."""
    for _ in range(150):
        if await holds():
            return
        await asyncio.sleep(0.2)
    pytest.fail("not within 30 s")


async def is_member(lease: Lease, slot: int) -> bool:
    return await lease.membership(slot) == "member"


async def is_empty(bootstrap: str, group: str) -> bool:
    return not await members(bootstrap, group)


async def refuses(producer: AIOKafkaProducer, target: TopicPartition) -> bool:
    """Whether another record of the open transaction meets the exception of a fence."""
    try:
        await producer.send_and_wait(target.topic, b"value", partition=target.partition)
    except ProducerFenced:
        return True
    return False


async def members(bootstrap: str, group: str) -> list[str]:
    """The member ids of a group, as the broker tells them."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        (answer,) = await admin.describe_consumer_groups([group])
        return [member[0] for member in answer.groups[0][5]]
    finally:
        await admin.close()


async def expel(bootstrap: str, group: str) -> None:
    """Take every member out of the group behind its back, as a session timeout does."""
    client = AIOKafkaClient(bootstrap_servers=bootstrap)
    ids = await members(bootstrap, group)
    await client.bootstrap()
    try:
        node = await client.coordinator_lookup(CoordinationType.GROUP, group)
        for member in ids:
            await client.send(node, LeaveGroupRequest(group, member))
    finally:
        await client.close()


async def test_two_workers_share_the_slots(seats: Callable[..., Any]) -> None:
    """Every slot has one worker, and a worker is told when its share changes."""
    async with seats() as first:
        assert first.assigned == frozenset(range(SLOTS))
        async with seats() as second:
            await assigned(first, 2, within=10)
            assert first.assigned | second.assigned == frozenset(range(SLOTS))
            assert not first.assigned & second.assigned


async def test_leaving_hands_over_before_the_session_ends(seats: Callable[..., Any]) -> None:
    """R17: who leaves is replaced within a heartbeat; who is killed only after the session."""
    async with seats() as first:
        async with seats() as second:
            await assigned(first, 2, within=10)
            await second.leave()
            assert await assigned(first, SLOTS, within=10) < 4
        async with seats() as third:
            await assigned(first, 2, within=10)
            await third.kill()
            assert await assigned(first, SLOTS, within=25) > 4


async def test_a_moved_slot_is_not_ours(seats: Callable[..., Any]) -> None:
    """R8: a slot that the group gave to another worker is not to be reopened."""
    async with seats() as first, seats() as second:
        await assigned(first, 2, within=10)
        for slot in range(SLOTS):
            answers = [await first.membership(slot), await second.membership(slot)]
            assert sorted(answers) == ["member", "not_member"]


async def test_an_expelled_worker_learns_it_from_the_commit(
    bootstrap: str, seats: Callable[..., Any], unique: Callable[[str], str]
) -> None:
    """R8: a worker that slept through its session still believes in its slots; the group tells.

    A heartbeat may come first and join again; that is the answer "member" of a new assignment.
    """
    async with seats() as lease:
        for _ in range(5):
            await expel(bootstrap, unique("group"))
            assert 0 in lease.assigned
            if await lease.membership(0) == "not_member":
                return
        pytest.fail("the commit of an expelled member was taken five times")


async def test_an_absent_broker_gives_no_answer(
    broker: DevBroker, seats: Callable[..., Any]
) -> None:
    """R8: without an answer in time the question stays open, and asking again works."""
    async with seats() as lease:
        broker.pause()
        try:
            assert await lease.membership(0, within=0.5) == "unknown"
        finally:
            broker.cont()
        await eventually(lambda: is_member(lease, 0))


async def test_our_own_timeout_looks_like_a_fence(slot: Slot, seats: Callable[..., Any]) -> None:
    """R8: the broker ends an overlong transaction with the exception of a fence; the group knows.

    Broker sweeps come every 10 s, so this takes as long.
    """
    async with seats() as lease, slot.raw(transaction_timeout_ms=500) as producer:
        await producer.begin_transaction()
        await producer.send_and_wait(slot.state.topic, b"value", partition=0)
        await eventually(lambda: refuses(producer, slot.state))
        assert await lease.membership(0) == "member"


async def test_a_lease_that_reads_nothing_stays_a_member(
    bootstrap: str, seats: Callable[..., Any], unique: Callable[[str], str]
) -> None:
    """R17: the client gives a member up that does not poll for max.poll.interval; a lease polls.

    The interval is 1.5 s here; a plain member of another group shows that it is enforced.
    """
    options = {"bootstrap_servers": bootstrap, "max_poll_interval_ms": 1_500}
    async with seats(max_poll_interval_ms=1_500) as lease:
        topic = lease.topic
        async with AIOKafkaConsumer(topic, group_id=unique("idle"), **options) as idle:
            await eventually(lambda: is_empty(bootstrap, unique("idle")))
            assert idle.assignment()  # and is not told
        lease.changed.clear()
        await asyncio.sleep(2.0)
        assert len(await members(bootstrap, unique("group"))) == 1
        assert not lease.changed.is_set()


async def test_a_cancelled_poll_disables_the_check(
    bootstrap: str, make_topics: MakeTopics, unique: Callable[[str], str]
) -> None:
    """R17 off: after one cancelled `getmany` a member that never polls again keeps its seat."""
    topics = await make_topics("reroute")
    async with AIOKafkaConsumer(
        topics["reroute"],
        group_id=unique("group"),
        bootstrap_servers=bootstrap,
        max_poll_interval_ms=1_500,
    ) as idle:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(idle.getmany(timeout_ms=60_000), 0.1)
        await asyncio.sleep(4.0)
        assert len(await members(bootstrap, unique("group"))) == 1


async def test_a_raising_listener_is_not_heard(
    bootstrap: str, make_topics: MakeTopics, unique: Callable[[str], str]
) -> None:
    """R17: why a listener takes notes only: what it raises reaches nobody."""

    class Raises(ConsumerRebalanceListener):  # type: ignore[misc]
        heard = 0

        def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            raise ValueError("revoked")

        def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
            self.heard += 1
            raise ValueError("assigned")

    topics = await make_topics("reroute")
    listener = Raises()
    consumer = AIOKafkaConsumer(group_id=unique("group"), bootstrap_servers=bootstrap)
    consumer.subscribe([topics["reroute"]], listener=listener)
    async with consumer:
        await consumer.getmany(timeout_ms=100)
    assert listener.heard == 1
