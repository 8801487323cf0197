"""Transactions that lie open in a log after their producer was fenced, and the end they get.

A broker that loses a marker is made here by a client that does not tell the coordinator of a
partition and a broker that takes its records all the same; `test_two_nodes` has the real thing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial

import pytest
from aiokafka.producer.transaction_manager import TransactionManager
from aiokafka.structs import TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from bridge.errors import TransactionUndecided
from bridge.kafka import restore
from bridge.kafka.aiokafka_internals import add_bare
from bridge.kafka.inquiry import inquiring
from bridge.kafka.leftovers import settle
from bridge.kafka.restore import StateUnsettled
from bridge.kafka.verdict import End, Verdicts
from tests.integration.kafka.deployment import Deploy, caught_up, eventually
from tests.integration.kafka.slots import Slot, approval, state


def verify(bootstrap: str, on: str) -> None:
    """Whether the broker asks the coordinator before it takes a transaction's first record."""
    entry = ConfigEntry(
        "transaction.partition.verification.enable",
        on,
        incremental_operation=AlterConfigOpType.SET,
    )
    resource = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for done in admin.incremental_alter_configs([resource]).values():
        done.result(30)


@pytest.fixture
def gullible(bootstrap: str) -> Iterator[None]:
    """The broker takes transactional records that its coordinator knows nothing of."""
    verify(bootstrap, "false")
    yield
    verify(bootstrap, "true")


async def lose_markers(
    slot: Slot,
    *lost: TopicPartition,
    kept: tuple[TopicPartition, ...] = (),
    end: End | None = None,
) -> None:
    """A transaction with a record `lost` in all of them that ends in `kept` alone, or nowhere."""
    async with slot.raw() as producer:
        await producer.begin_transaction()
        for target in lost:
            producer._txn_manager._txn_partitions.add(target)  # as if it had been asked
        if end is not None and not kept:  # the coordinator decides of something
            add_bare(producer, [TopicPartition(slot.topics["dead-letters"], 0)])
        for target in (*kept, *lost):
            await producer.send_and_wait(target.topic, b"lost", b"k", partition=target.partition)
        if end == "commit":
            await producer.commit_transaction()
        elif end == "abort":
            await producer.abort_transaction()


async def fence(slot: Slot) -> None:
    """An owner that fences and dies at once: the coordinator remembers nothing afterwards."""
    async with slot.raw():
        pass


async def is_readable(slot: Slot, target: TopicPartition) -> bool:
    """Whether nothing is open in a log."""
    return await slot.end("read_committed", target) == await slot.end("read_uncommitted", target)


async def settled(slot: Slot, verdicts: Verdicts | None = None) -> dict[str, list[str]]:
    """What the next owner ends, by role; all is readable afterwards."""
    roles = {topic: role for role, topic in slot.topics.items()}
    async with slot.opened(verdicts=verdicts) as producer:
        plan = await settle(producer)
        await producer.commit([state(b"k", b"next"), approval(b"k", b"next")])
    for target in (slot.state, slot.approvals):  # markers follow the answer to a commit
        await eventually(partial(is_readable, slot, target), bool)
    return {end: sorted(roles[tp.topic] for tp in ended) for end, ended in plan.items()}


@pytest.mark.usefixtures("gullible")
async def test_one_that_nobody_decided_is_aborted(slot: Slot) -> None:
    async with slot.opened() as producer:
        await producer.commit([state(b"k", b"kept"), approval(b"k", b"kept")])
    await lose_markers(slot, slot.state, slot.approvals)
    assert await settled(slot) == {"abort": ["approvals", "state"]}
    assert await slot.visible(slot.state) == [b"kept", b"next"]
    assert await slot.visible(slot.approvals) == [b"kept", b"next"]


@pytest.mark.usefixtures("gullible")
async def test_one_that_was_committed_is_committed(slot: Slot) -> None:
    """Its state is settled and says that the approval was published: aborting it loses it."""
    await lose_markers(slot, slot.approvals, kept=(slot.state,), end="commit")
    assert await settled(slot) == {"commit": ["approvals"]}
    assert await slot.visible(slot.state) == [b"lost", b"next"]
    assert await slot.visible(slot.approvals) == [b"lost", b"next"]


@pytest.mark.usefixtures("gullible")
async def test_one_that_was_committed_and_lies_open_everywhere_is_committed(slot: Slot) -> None:
    await lose_markers(slot, slot.state, slot.approvals, end="commit")
    assert await settled(slot) == {"commit": ["approvals", "state"]}
    assert await slot.visible(slot.state) == [b"lost", b"next"]
    assert await slot.visible(slot.approvals) == [b"lost", b"next"]


@pytest.mark.usefixtures("gullible")
async def test_one_that_was_aborted_is_aborted(slot: Slot) -> None:
    await lose_markers(slot, slot.approvals, kept=(slot.state,), end="abort")
    assert await settled(slot) == {"abort": ["approvals"]}
    assert await slot.visible(slot.state) == [b"next"]
    assert await slot.visible(slot.approvals) == [b"next"]


@pytest.mark.usefixtures("gullible")
async def test_a_later_one_that_was_aborted_does_not_speak_for_it(slot: Slot) -> None:
    """Its owner went on after the commit, and failed in a transaction that did not write there."""
    async with slot.raw() as producer:
        await producer.begin_transaction()
        producer._txn_manager._txn_partitions.add(slot.approvals)  # as if it had been asked
        for target in (slot.state, slot.approvals):
            await producer.send_and_wait(target.topic, b"lost", b"k", partition=0)
        await producer.commit_transaction()
        await asyncio.sleep(2)  # brokers' clocks must be able to tell
        await producer.begin_transaction()
        await producer.send_and_wait(slot.state.topic, b"failed", b"k", partition=0)
        await producer.abort_transaction()
    assert await settled(slot) == {"commit": ["approvals"]}
    assert await slot.visible(slot.approvals) == [b"lost", b"next"]


@pytest.mark.usefixtures("gullible")
async def test_without_the_settling_a_commit_publishes_it(slot: Slot) -> None:
    """Why it comes before everything: the next marker there ends the lost one too."""
    await lose_markers(slot, slot.approvals, kept=(slot.state,), end="abort")
    async with slot.opened() as producer:
        await producer.commit([state(b"k"), approval(b"k", b"next")])
    assert await slot.visible(slot.approvals) == [b"lost", b"next"]


@pytest.mark.usefixtures("gullible")
@pytest.mark.parametrize("end", ["commit", "abort"])
async def test_the_verdict_outlives_the_owner_who_asked(slot: Slot, end: End) -> None:
    """A tenure that ends between fence and settling leaves it to the slot's next one."""
    verdicts = Verdicts()
    await lose_markers(slot, slot.state, slot.approvals, end=end)
    async with slot.opened(verdicts=verdicts):
        pass
    await fence(slot)
    assert await settled(slot, verdicts) == {end: ["approvals", "state"]}


@pytest.mark.usefixtures("gullible")
@pytest.mark.parametrize("end", ["commit", "abort"])
async def test_the_state_tells_where_the_verdict_is_gone(slot: Slot, end: End) -> None:
    """A process that dies between fence and settling takes the coordinator's answer with it."""
    await lose_markers(slot, slot.approvals, kept=(slot.state,), end=end)
    await fence(slot)
    assert await settled(slot) == {end: ["approvals"]}


@pytest.mark.usefixtures("gullible")
async def test_all_of_it_may_be_taken_back_where_the_verdict_is_gone(slot: Slot) -> None:
    """With the state open too nothing of it was ever seen: the inputs are read again."""
    await lose_markers(slot, slot.state, slot.approvals, end="commit")
    await fence(slot)
    assert await settled(slot) == {"abort": ["approvals", "state"]}


@pytest.mark.usefixtures("gullible")
async def test_where_nothing_tells_the_end_nobody_guesses(slot: Slot) -> None:
    await lose_markers(slot, slot.approvals, end="commit")
    await fence(slot)
    async with slot.opened() as producer:
        with pytest.raises(TransactionUndecided, match=r"approvals/0 .* open from offset 0"):
            await settle(producer)
    assert await slot.end("read_committed", slot.approvals) == 0


@pytest.mark.usefixtures("gullible")
async def test_reroute_is_settled_too(slot: Slot) -> None:
    reroute = TopicPartition(slot.topics["reroute"], 0)
    await lose_markers(slot, reroute, kept=(slot.state,), end="commit")
    assert await settled(slot) == {"commit": ["reroute"]}
    assert await slot.visible(reroute) == [b"lost"]


@pytest.mark.usefixtures("gullible")
async def test_what_another_producer_has_open_is_waited_for_and_named(
    slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the producer's own id can end it; a restore finds it in every partition it is given."""
    monkeypatch.setattr(restore, "UNSETTLED_DEADLINE", 0.5)
    stranger = Slot(slot.bootstrap, slot.transactional_id + "-stranger", slot.topics)
    await lose_markers(stranger, slot.approvals)
    async with slot.opened() as producer:
        assert await settle(producer) == {}
        await slot.restored()
        with pytest.raises(StateUnsettled, match="approvals"):
            await slot.restored(slot.approvals)


@pytest.mark.usefixtures("gullible")
async def test_a_slot_that_goes_on_frees_its_readers(
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its transaction is committed and never ends in the approvals; nothing more is written."""
    deployment = await deploy()
    async with deployment.running() as slot:
        await caught_up(slot)
        forget_marker(monkeypatch, TopicPartition(deployment.topics["approvals"], 0))
        await deployment.ask("thread")
        await eventually(deployment.asked, lambda found: found == ["thread"])
        assert 'leftovers_total{end="commit"} 1.0' in deployment.metrics.exposition().decode()
        assert (slot.state, slot.error) == ("serving", None)


def forget_marker(monkeypatch: pytest.MonkeyPatch, target: TopicPartition) -> None:
    """The coordinator learns of all partitions of the next transaction there but of this one."""
    add, lost = TransactionManager.maybe_add_partition_to_txn, [target]

    def forgetting(manager: TransactionManager, partition: TopicPartition) -> None:
        if partition in lost:
            lost.remove(partition)
            manager._txn_partitions.add(partition)  # as if the coordinator knew it
        add(manager, partition)

    monkeypatch.setattr(TransactionManager, "maybe_add_partition_to_txn", forgetting)


async def test_an_id_without_a_past_has_no_last_transaction(slot: Slot) -> None:
    async with inquiring(slot.client) as ask, asyncio.timeout(20):
        assert await ask.last_transaction(slot.transactional_id) is None
        async with slot.opened() as producer:
            await producer.commit([state(b"k")])
        last = await ask.last_transaction(slot.transactional_id)
    assert last is not None
    assert last.state in ("PrepareCommit", "CompleteCommit")  # markers are written afterwards
    assert (last.producer_id, last.epoch) == producer.identity
