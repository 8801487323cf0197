"""The real loss of a marker: a transaction ends while one of its partitions has no leader.

Kafka 4.3.0 and 4.4.0 skip the partition and call the transaction complete (KAFKA-20734).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest
from aiokafka import AIOKafkaProducer

from bridge.kafka.inquiry import inquiring
from bridge.kafka.leftovers import settle
from bridge.kafka.verdict import End
from bridge.records.topics import ROLES, Topics
from tests.integration.kafka.slots import Slot, approval, state
from tests.two_nodes import TwoNodes, two_nodes

pytestmark = pytest.mark.broker

ON_THE_FIRST = ("state", "reroute", "resume-commands", "answer-verdicts", "dead-letters")


@pytest.fixture(scope="module")
def nodes() -> Iterator[TwoNodes]:
    with two_nodes() as running:
        yield running


@pytest.fixture
async def torn(nodes: TwoNodes, unique: Callable[[str], str]) -> Slot:
    """Slot 0, its approvals on the second node and all else on the first."""
    slot = Slot(
        nodes.bootstrap,
        unique("slot-0"),
        Topics({role: unique(role) for role in ROLES}),
    )
    stamped = {"message.timestamp.type": "LogAppendTime"}
    await nodes.create(1, *(slot.topics[role] for role in ON_THE_FIRST), settings=stamped)
    await nodes.create(2, slot.topics["approvals"], settings=stamped)
    return slot


async def ended_without_a_leader(nodes: TwoNodes, slot: Slot, end: End) -> None:
    """A transaction in state and approvals whose end the approvals never get."""
    async with slot.raw(transaction_timeout_ms=60_000) as producer:
        await producer.begin_transaction()
        for target in (slot.state, slot.approvals):
            await producer.send_and_wait(target.topic, b"torn", b"k", partition=0)
        await asyncio.to_thread(nodes.second.kill)
        await nodes.led_by(-1, slot.approvals.topic)
        await finish(producer, end)
    await asyncio.to_thread(nodes.second.restart)
    await nodes.led_by(2, slot.approvals.topic)


async def finish(producer: AIOKafkaProducer, end: End) -> None:
    async with asyncio.timeout(30):
        if end == "commit":
            await producer.commit_transaction()
        else:
            await producer.abort_transaction()


@pytest.mark.parametrize("end", ["commit", "abort"])
async def test_it_gets_the_end_that_it_was_given(nodes: TwoNodes, torn: Slot, end: End) -> None:
    """The approval is seen exactly when the state that says so is."""
    await ended_without_a_leader(nodes, torn, end)
    async with inquiring(torn.client) as ask:
        assert (await ask.ends([torn.approvals]))[torn.approvals].behind
    async with torn.opened() as producer:
        assert await settle(producer) == {end: [torn.approvals]}
        await producer.commit([state(b"k", b"next"), approval(b"k", b"next")])
    seen = [b"torn", b"next"] if end == "commit" else [b"next"]
    assert await torn.visible(torn.state) == seen
    assert await torn.visible(torn.approvals) == seen
