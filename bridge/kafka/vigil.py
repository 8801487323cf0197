"""Wakes a slot that stands still: somebody else has written to its state.

Nobody writes there but a slot and whoever takes it for a moment to let it go on, so the end of the
partition is all that has to be looked at.
"""

from __future__ import annotations

import asyncio
from typing import Final

from aiokafka.errors import KafkaError
from aiokafka.structs import TopicPartition

from bridge.errors import BridgeError
from bridge.kafka.clients import ClientSettings
from bridge.kafka.inquiry import inquiring

LOOK_S: Final = 1.0
_AWAY_S: Final = 5.0


async def written(client: ClientSettings, state: TopicPartition) -> None:
    """Returns once the partition has grown; while brokers are away, it waits on."""
    known: int | None = None
    while True:
        try:
            async with inquiring(client) as inquiry:
                while True:
                    end = (await inquiry.ends([state]))[state].high
                    if known is not None and end != known:
                        return
                    known = end
                    await asyncio.sleep(LOOK_S)
        except (BridgeError, KafkaError, TimeoutError):
            await asyncio.sleep(_AWAY_S)
