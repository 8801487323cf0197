"""What clients do on a real broker that their wrappers must not let through."""

from __future__ import annotations

import asyncio

from aiokafka.structs import TopicPartition

from bridge.kafka.clients import make_consumer, start_consumer, stop_consumer
from tests.topics import MakeTopics


async def test_a_fetch_cancelled_on_stop_cancels_nobody_else(
    bootstrap: str, make_topics: MakeTopics
) -> None:
    """A fetch that had not begun makes the client's own stop() end as if it were cancelled."""
    topic = (await make_topics("state"))["state"]
    consumer = make_consumer({"bootstrap_servers": bootstrap})
    await start_consumer(consumer)
    consumer.assign([TopicPartition(topic, 0)])
    consumer._fetcher._pending_tasks.add(asyncio.create_task(asyncio.sleep(60)))
    await stop_consumer(consumer)
    assert consumer._closed
