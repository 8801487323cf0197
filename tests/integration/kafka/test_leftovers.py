"""A transaction that the coordinator has lost track of, left open in the partitions for ever."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from aiokafka.structs import TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from bridge.kafka import restore
from bridge.kafka.restore import StateUnsettled
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


async def leave_open(slot: Slot, *targets: TopicPartition) -> None:
    """Records of a transaction that no coordinator will ever end."""
    async with slot.raw() as producer:
        await producer.begin_transaction()
        for target in targets:
            producer._txn_manager._txn_partitions.add(target)  # as if it had been asked
            await producer.send_and_wait(target.topic, b"lost", b"k", partition=target.partition)


@pytest.mark.usefixtures("gullible")
async def test_a_lost_transaction_is_closed_as_aborted(
    slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fencing does not settle it; after the abort nobody ever sees its records."""
    monkeypatch.setattr(restore, "UNSETTLED_DEADLINE", 0.5)
    async with slot.opened() as producer:
        await producer.commit([state(b"k", b"kept"), approval(b"k", b"kept")])
    await leave_open(slot, slot.state, slot.approvals)
    async with slot.opened() as producer:
        with pytest.raises(StateUnsettled):
            await slot.restored()
        await producer.abort_leftovers()
        assert producer.life == "dead"
    async with slot.opened() as producer:
        assert [record.value for record in (await slot.restored()).batches] == [b"kept"]
        await producer.commit([state(b"k", b"next"), approval(b"k", b"next")])
    assert await slot.visible(slot.state) == [b"kept", b"next"]
    assert await slot.visible(slot.approvals) == [b"kept", b"next"]


@pytest.mark.usefixtures("gullible")
async def test_without_the_abort_a_commit_publishes_it(slot: Slot) -> None:
    """Why every partition gets its marker: the next commit there ends the lost one too."""
    await leave_open(slot, slot.approvals)
    async with slot.opened() as producer:
        await producer.commit([state(b"k"), approval(b"k", b"next")])
    assert await slot.visible(slot.approvals) == [b"lost", b"next"]


@pytest.mark.usefixtures("gullible")
async def test_a_lost_transaction_of_an_output_is_found_before_the_first_commit(
    slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restore looks at every partition that only its slot writes to, not at the state alone."""
    monkeypatch.setattr(restore, "UNSETTLED_DEADLINE", 0.5)
    await leave_open(slot, slot.approvals)
    async with slot.opened():
        await slot.restored()
        with pytest.raises(StateUnsettled, match="approvals"):
            await slot.restored(slot.approvals)
