"""Transaction markers that the cleaner empties: the state partition must stay readable."""

from __future__ import annotations

import asyncio
import importlib.util
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.consumer.fetcher import PartitionRecords
from aiokafka.errors import KafkaError

from tests.integration.kafka.slots import Slot, killed_inside_a_transaction, state
from tests.topics import MakeTopics

CLEANED_AT_ONCE = {
    "cleanup.policy": "compact",
    "segment.ms": "400",
    "delete.retention.ms": "300",
    "max.compaction.lag.ms": "500",
    "min.cleanable.dirty.ratio": "0.01",
}
CLEANED_WITHIN = 90.0  # seconds; two runs of a cleaner that looks every second take about 5


def stock_fetcher() -> ModuleType:
    """The installed fetcher, loaded once more beside the one that is patched."""
    spec = importlib.util.find_spec("aiokafka.consumer.fetcher")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def stock_client() -> Iterator[None]:
    """Within this the client reads batches as it was installed."""
    stock = stock_fetcher().PartitionRecords
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_contains_abort_marker", "_unpack_records"):
            patch.setattr(PartitionRecords, name, getattr(stock, name))
        yield


async def compacted(slot: Slot, make_topics: MakeTopics) -> Slot:
    topics = await make_topics("compacted", config=CLEANED_AT_ONCE)
    return Slot(slot.bootstrap, slot.transactional_id, slot.topics | {"state": topics["compacted"]})


async def becomes_unreadable(slot: Slot, within: float) -> str | None:
    """What a reader raises at last, while a stranger's records keep the cleaner busy."""
    deadline = time.monotonic() + within
    async with AIOKafkaProducer(**slot.client) as stranger:
        while time.monotonic() < deadline:
            await stranger.send_and_wait(slot.state.topic, b"value", b"stranger", partition=0)
            try:
                await slot.visible(slot.state)
            except KafkaError as error:
                return str(error)
            await asyncio.sleep(0.2)
    return None


async def test_an_emptied_marker_makes_a_partition_unreadable(
    slot: Slot, make_topics: MakeTopics
) -> None:
    """R2 off, then on: after a kill, a fence and the cleaner, only the patched client reads.

    The takeover writes nothing here, so the abort marker stays the last batch of its producer id;
    the cleaner keeps that batch for its epoch and takes its record away.
    """
    slot = await compacted(slot, make_topics)
    async with slot.opened() as first:
        await first.commit([state(b"kept")])
    await killed_inside_a_transaction(slot, b"lost")
    async with slot.opened():
        pass
    with stock_client():
        raised = await becomes_unreadable(slot, CLEANED_WITHIN)
        assert raised is not None
        assert "Control batch did not contain any records" in raised
        with pytest.raises(KafkaError, match="Control batch"):  # again, from the same position
            await slot.visible(slot.state)
    read = await slot.restored()
    assert b"kept" in read.keys
    assert b"lost" not in read.keys


async def test_a_takeover_record_keeps_the_partition_readable_for_all(
    slot: Slot, make_topics: MakeTopics
) -> None:
    """R2: with a record after the fence, the marker is not the last batch and goes as a whole.

    Compacted outputs need the same, for other teams' readers have no patch. Three times as long
    as the partition without the record lasts, which the test above shows.
    """
    slot = await compacted(slot, make_topics)
    await killed_inside_a_transaction(slot, b"lost")
    async with slot.opened() as successor:
        await successor.commit([state(b"takeover")])
    with stock_client():
        assert await becomes_unreadable(slot, 12.0) is None
