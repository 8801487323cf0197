"""R9, R11, R13: what the client lets one do without a word, and what the bridge does instead."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.structs import TopicPartition

from bridge.errors import Fenced
from bridge.kafka import topic_admin
from tests.integration.kafka.slots import Slot, killed_inside_a_transaction, state
from tests.topics import MakeTopics

_ORPHAN_TIMEOUT = 3.0  # seconds; the broker's own sweep adds up to 10


async def test_group_offsets_may_be_moved_by_anybody(
    bootstrap: str, make_topics: MakeTopics, unique: Callable[[str], str]
) -> None:
    """R9 off: somebody outside an empty group moves its offset and nobody is told."""
    topics = await make_topics("input")
    here, group = TopicPartition(topics["input"], 0), unique("group")
    for offset in (7, 3):
        async with AIOKafkaConsumer(
            bootstrap_servers=bootstrap, group_id=group, enable_auto_commit=False
        ) as stranger:
            stranger.assign([here])
            await stranger.commit({here: offset})
            assert await stranger.committed(here) == offset


async def test_positions_come_from_the_state_alone(slot: Slot) -> None:
    """R9 on: a position is a record that only the fenced producer of the slot can write."""
    async with slot.opened() as predecessor:
        await predecessor.commit([state(b"position", b"7")])
        async with slot.opened() as successor:
            await successor.commit([state(b"position", b"9")])
            with pytest.raises(Fenced):
                await predecessor.commit([state(b"position", b"3")])
    assert (await slot.visible(slot.state))[-1] == b"9"


async def test_readers_wait_behind_an_orphan_until_its_timeout(slot: Slot) -> None:
    """R11 off: without a successor, what others commit is invisible until the broker gives up."""
    began = time.monotonic()
    await killed_inside_a_transaction(slot, b"orphan", timeout=_ORPHAN_TIMEOUT)
    stable = await slot.end("read_committed")
    assert stable < await slot.end("read_uncommitted")
    for _ in range(200):
        if await slot.end("read_committed") > stable:
            break
        await asyncio.sleep(0.2)
    assert time.monotonic() - began > _ORPHAN_TIMEOUT - 0.5
    assert await slot.end("read_committed") > stable


async def test_a_successor_frees_the_readers_at_once(slot: Slot) -> None:
    """R11 on: whoever takes the slot over settles the orphan, long before its timeout."""
    await killed_inside_a_transaction(slot, b"orphan")
    async with slot.opened():
        assert await slot.end("read_committed") == await slot.end("read_uncommitted")


async def test_altering_one_config_resets_the_others(
    bootstrap: str, make_topics: MakeTopics
) -> None:
    """R13 off: a compacted topic of which one setting is altered becomes a deleting one."""
    config = {"cleanup.policy": "compact", "delete.retention.ms": "600000"}
    topics = await make_topics("state", config=config)
    async with topic_admin.connected({"bootstrap_servers": bootstrap}) as admin:
        before = (await topic_admin.facts(admin, [topics["state"]]))[topics["state"]]
        altered = ConfigResource(
            ConfigResourceType.TOPIC, topics["state"], {"segment.ms": "600000"}
        )
        await admin.alter_configs([altered])
        after = (await topic_admin.facts(admin, [topics["state"]]))[topics["state"]]
    assert before.configs is not None
    assert after.configs is not None
    assert before.configs["cleanup.policy"] == "compact"
    assert after.configs["cleanup.policy"] == "delete"


def test_the_bridge_alters_no_config() -> None:
    """R13 on: no call of it anywhere; what is wrong is named with the command that mends it."""
    package = Path(topic_admin.__file__).parents[1]
    calls = [path for path in package.rglob("*.py") if ".alter_configs(" in path.read_text()]
    assert calls == []
