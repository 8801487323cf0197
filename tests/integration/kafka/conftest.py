"""Fixtures for tests of one slot's Kafka side: the six topics a slot writes, under fresh names."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest

from bridge.records.outgoing import Role
from tests.integration.kafka.slots import Slot
from tests.topics import MakeTopics


@pytest.fixture
async def slot(bootstrap: str, make_topics: MakeTopics, unique: Callable[[str], str]) -> Slot:
    """Slot 0 of a deployment of this test's own, its state stamped by the broker."""
    outputs = await make_topics(*(role for role in get_args(Role) if role != "state"))
    state = await make_topics("state", config={"message.timestamp.type": "LogAppendTime"})
    return Slot(bootstrap, unique("slot-0"), outputs | state)
