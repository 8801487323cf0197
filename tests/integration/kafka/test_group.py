"""Who is in the workers' group, what members tell each other, and what strangers are given."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import confluent_kafka
import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor

from bridge.errors import GroupTaken
from bridge.kafka.assignor import NAME
from bridge.kafka.group import Group, describe_group
from bridge.kafka.lease import Lease
from bridge.kafka.topic_admin import connected
from tests.integration.kafka.deployment import eventually, until
from tests.topics import MakeTopics

SLOTS = 8


@dataclass(frozen=True)
class Workers:
    """A group of this test's own."""

    bootstrap: str
    name: str
    topic: str

    @asynccontextmanager
    async def joined(self, *sources: str) -> AsyncIterator[Lease]:
        """One more worker, that knows these sources and leaves in order."""
        client = {"bootstrap_servers": self.bootstrap}
        lease = Lease(client, self.name, self.topic, SLOTS, sources)
        try:
            await lease.join()
            yield lease
            await lease.leave()
        finally:
            await lease.kill()

    @contextmanager
    def stranger(self, **settings: Any) -> Iterator[confluent_kafka.Consumer]:
        """A plain consumer of another team that took the group's name for its own."""
        consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": self.name,
                "client.id": "a-console",
                "log_level": 0,
                **settings,
            }
        )
        consumer.subscribe([self.topic])
        try:
            yield consumer
        finally:
            consumer.close()

    async def described(self) -> Group:
        async with connected({"bootstrap_servers": self.bootstrap}) as admin:
            return await describe_group(admin, self.name)


@pytest.fixture
async def workers(bootstrap: str, make_topics: MakeTopics, unique: Callable[[str], str]) -> Workers:
    topics = await make_topics("reroute", partitions=SLOTS)
    return Workers(bootstrap, unique("group"), topics["reroute"])


async def shared(*leases: Lease) -> None:
    """Until all slots are shared out among these workers, evenly."""
    await until(
        lambda: (
            sorted(slot for lease in leases for slot in lease.assigned) == list(range(SLOTS))
            and all(lease.assigned for lease in leases)
            and len({lease.roster.term for lease in leases if lease.roster}) == 1
        )
    )


async def polled(consumer: confluent_kafka.Consumer, seconds: float) -> list[Any]:
    """What the stranger was assigned after that long, or its errors."""
    for _ in range(round(seconds / 0.2)):
        message = await asyncio.to_thread(consumer.poll, 0.2)
        if message is not None and (error := message.error()) is not None:
            return [error.name()]
    return list(consumer.assignment())


async def test_a_third_worker_moves_only_what_it_gets(workers: Workers) -> None:
    """And its leaving only what it had."""
    async with workers.joined() as one, workers.joined() as two:
        await shared(one, two)
        before: Mapping[Lease, frozenset[int]] = {one: one.assigned, two: two.assigned}
        async with workers.joined() as three:
            await shared(one, two, three)
            assert one.assigned < before[one]
            assert two.assigned < before[two]
            assert len(three.assigned) == SLOTS // 3
            kept = {one: one.assigned, two: two.assigned}
        await shared(one, two)
        assert kept[one] <= one.assigned
        assert kept[two] <= two.assigned


async def test_the_group_can_be_looked_at_from_outside(workers: Workers) -> None:
    """Who the workers are, what they know, what they hold."""
    async with workers.joined("agents", "others") as one, workers.joined("agents") as two:
        await shared(one, two)
        group = await workers.described()
    assert (group.protocol, group.state, group.strangers) == (NAME, "Stable", ())
    assert len({slot for each in group.workers for slot in each.slots}) == SLOTS
    known = sorted(each.declaration.sources for each in group.workers if each.declaration)
    assert known == [("agents",), ("agents", "others")]
    assert group.unserved(SLOTS) == []


async def test_while_the_group_rebalances_no_worker_is_called_a_stranger(workers: Workers) -> None:
    """Brokers tell then of nobody what he declared, so a look waits until the group has settled."""
    looks: list[Group] = []
    async with workers.joined() as one:
        await shared(one)
        async with asyncio.TaskGroup() as group:
            joining = group.create_task(_come_and_go(workers, one))
            while not joining.done():
                looks.append(await workers.described())
    assert [look.strangers for look in looks] == [()] * len(looks)
    assert all(look.workers for look in looks if look.settled)


async def _come_and_go(workers: Workers, one: Lease) -> None:
    for _ in range(3):
        async with workers.joined() as two:
            await shared(one, two)
        await shared(one)


async def test_a_group_that_is_not_there_has_no_members(workers: Workers) -> None:
    """Nobody serves any slot of it."""
    group = await workers.described()
    assert group.members == ()
    assert group.unserved(SLOTS) == list(range(SLOTS))


async def test_every_worker_learns_who_does_not_know_a_source(workers: Workers) -> None:
    """At the assignment that lets such a worker in, and at the one that follows its going."""
    async with workers.joined("agents", "new") as one:
        assert one.roster is not None
        assert one.roster.lacking == {}
        async with workers.joined("agents") as two:
            await shared(one, two)
            for lease in (one, two):
                assert lease.roster is not None
                assert list(lease.roster.lacking) == ["new"]
        await until(lambda: one.roster is not None and one.roster.lacking == {})


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_a_stranger_is_not_let_in_beside_a_worker(workers: Workers, protocol: str) -> None:
    """It took half of the slots, and everything said that all was well."""
    async with workers.joined() as one:
        with workers.stranger(**{"group.protocol": protocol}) as stranger:
            found = await polled(stranger, 8)
            assert not any(isinstance(each, confluent_kafka.TopicPartition) for each in found)
            assert one.assigned == frozenset(range(SLOTS))
            assert [each.slots for each in (await workers.described()).workers] == [
                tuple(range(SLOTS))
            ]


async def test_workers_say_who_has_their_group(workers: Workers) -> None:
    """A stranger that was there first keeps them out, so it is named; gone, all is well."""
    with workers.stranger() as stranger:
        await polled(stranger, 1)
        await eventually(workers.described, lambda group: len(group.strangers) == 1)
        with pytest.raises(GroupTaken, match="a-console at 127"):
            async with workers.joined():
                pass
    async with workers.joined() as one:
        assert one.assigned == frozenset(range(SLOTS))


async def test_a_member_that_declares_nothing_is_given_nothing(workers: Workers) -> None:
    """Even one that shares out as workers do; it is named to all of them."""

    class Silent(RoundRobinPartitionAssignor):  # type: ignore[misc]
        name = NAME

    async with workers.joined() as one:
        silent = AIOKafkaConsumer(
            workers.topic,
            bootstrap_servers=workers.bootstrap,
            group_id=workers.name,
            client_id="silent",
            partition_assignment_strategy=(Silent,),
        )
        async with silent:
            await until(lambda: one.roster is not None and one.roster.stranger_count == 1)
            assert silent.assignment() == set()
            assert one.assigned == frozenset(range(SLOTS))
            assert one.roster is not None
            assert one.roster.strangers[0].startswith("silent")
            assert len((await workers.described()).strangers) == 1
        await until(lambda: one.roster is not None and one.roster.stranger_count == 0)
