"""Fixtures for tests of the Kafka side: the topics that slots read and write, under fresh names."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest

from bridge.kafka.intake import StartFrom
from bridge.records.outgoing import Role
from tests.integration.kafka.deployment import Deploy, Deployment
from tests.integration.kafka.slots import Slot
from tests.topics import MakeTopics


@pytest.fixture
async def slot(bootstrap: str, make_topics: MakeTopics, unique: Callable[[str], str]) -> Slot:
    """Slot 0 of a deployment of this test's own, its state stamped by the broker."""
    outputs = await make_topics(*(role for role in get_args(Role) if role != "state"))
    state = await make_topics("state", config={"message.timestamp.type": "LogAppendTime"})
    return Slot(bootstrap, unique("slot-0"), outputs | state)


OUTPUTS = ("approvals", "resume-commands", "answer-verdicts", "dead-letters")
STAMPED = ("state", "reroute", "answers", "operations")


@pytest.fixture
def deploy(bootstrap: str, make_topics: MakeTopics, unique: Callable[[str], str]) -> Deploy:
    """`await deploy(slots, start, events=3)`: topics of this test's own, inputs by name."""

    async def make(slots: int = 1, start: StartFrom = "earliest", **inputs: int) -> Deployment:
        own = await make_topics(*OUTPUTS, partitions=slots)
        config = {"message.timestamp.type": "LogAppendTime"}
        own |= await make_topics(*STAMPED, partitions=slots, config=config)
        names: dict[str, StartFrom] = {}
        for name, partitions in (inputs or {"events": 1}).items():
            made = await make_topics(name, partitions=partitions)
            names[made[name]] = start
        return Deployment(bootstrap, unique("app"), own, names, slots)

    return make
