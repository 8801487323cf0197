"""Fixtures for tests of the Kafka side: the topics that slots read and write, under fresh names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bridge.kafka.intake import StartFrom
from bridge.records.topics import ROLES, Topics
from tests.integration.kafka.deployment import Deploy, Deployment
from tests.integration.kafka.slots import Slot
from tests.topics import MakeTopics

STAMPED = {"message.timestamp.type": "LogAppendTime"}


@pytest.fixture
async def slot(bootstrap: str, make_topics: MakeTopics, unique: Callable[[str], str]) -> Slot:
    """Slot 0 of a deployment of this test's own, its state stamped by the broker."""
    return Slot(bootstrap, unique("slot-0"), Topics(await make_topics(*ROLES, config=STAMPED)))


@pytest.fixture
def deploy(bootstrap: str, make_topics: MakeTopics, unique: Callable[[str], str]) -> Deploy:
    """`await deploy(slots, start, events=3)`: topics of this test's own, inputs by name."""

    async def make(slots: int = 1, start: StartFrom = "earliest", **inputs: int) -> Deployment:
        own = Topics(await make_topics(*ROLES, partitions=slots, config=STAMPED))
        names: dict[str, StartFrom] = {}
        for name, partitions in (inputs or {"events": 1}).items():
            made = await make_topics(name, partitions=partitions)
            names[made[name]] = start
        return Deployment(bootstrap, unique("app"), own, names, slots)

    return make
