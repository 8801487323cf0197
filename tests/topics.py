"""Topics for tests: made under names of a test's own, and led before anybody uses them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Protocol

from aiokafka.admin import AIOKafkaAdminClient, NewTopic

TOPICS_READY_SECONDS = 30.0


class MakeTopics(Protocol):
    """`await make_topics("state", "reroute", partitions=4, config={…})` → role to topic name."""

    async def __call__(
        self, *roles: str, partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Create one topic for each role and return their names once they have leaders."""
        ...


async def create_topics(bootstrap: str, topics: list[NewTopic]) -> None:
    """Create `topics` and wait until each has leaders: a client that starts on an unknown topic
    may never find it."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        answer = await admin.create_topics(topics)
        # The call itself never raises; every topic has a code of its own.
        failed = [error for error in answer.topic_errors if error[1] != 0]
        assert not failed, failed
        await _until_led(admin, {topic.name: topic.num_partitions for topic in topics})
    finally:
        await admin.close()


async def _until_led(admin: AIOKafkaAdminClient, wanted: Mapping[str, int]) -> None:
    deadline = time.monotonic() + TOPICS_READY_SECONDS
    while True:
        topics = await admin.describe_topics(list(wanted))
        led = {
            topic["topic"]: sum(part["leader"] >= 0 for part in topic["partitions"])
            for topic in topics
        }
        if led == wanted:
            return
        assert time.monotonic() < deadline, f"no leaders: wanted {wanted}, have {led}"
        await asyncio.sleep(0.05)
