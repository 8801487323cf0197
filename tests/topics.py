"""Topics for tests: made under names of a test's own, and led before anybody uses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from aiokafka.admin import NewTopic
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from bridge.kafka.topic_admin import connected, ensure


class MakeTopics(Protocol):
    """`await make_topics("state", "reroute", partitions=4, config={…})` → role to topic name."""

    async def __call__(
        self, *roles: str, partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Create one topic for each role and return their names once they have leaders."""
        ...


async def create_topics(bootstrap: str, topics: list[NewTopic]) -> None:
    """Create `topics`, none of which may exist, and wait until each has leaders."""
    async with connected({"bootstrap_servers": bootstrap}) as admin:
        created = await ensure(admin, topics)
    assert not created.existed, created.existed


def set_topic(admin: AdminClient, topic: str, name: str, value: str) -> None:
    """Change one setting of a topic."""
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    changed = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    for done in admin.incremental_alter_configs([changed]).values():
        done.result(20)
