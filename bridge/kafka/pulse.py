"""Whether the cluster answers at all: looked up once a second, over a connection of its own.

A slot cannot tell by itself. Its own requests wait for a leader, a coordinator or a lock as well,
and while it opens or closes it has no request under way that would have to be answered at once.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Final

from aiokafka.client import AIOKafkaClient

from bridge.errors import BridgeError
from bridge.kafka.clients import ClientSettings, kill, make_client, start_client

SILENT_S: Final = 2.0
"""So long without an answer to a question that every broker answers at once: nobody is there."""

_BEAT_S: Final = 1.0
_AGAIN_S: Final = 0.3  # a closed port answers at once, and slots wait for the first that does not
_WITHIN_S: Final = 3.0


class Pulse:
    """Ask `silence` at any time; `run` does the asking until it is cancelled."""

    def __init__(self, client: ClientSettings, topic: str) -> None:
        """`topic` is any that is there: its metadata is requested."""
        self._client = client
        self._topic = topic
        self._connection: AIOKafkaClient | None = None
        self._heard_at = time.monotonic()

    def silence(self) -> float:
        """Seconds since any broker last answered, less one beat."""
        return max(0.0, time.monotonic() - self._heard_at - _BEAT_S)

    async def run(self) -> None:
        self._heard_at = time.monotonic()
        try:
            while True:
                heard = await self._ask()
                if heard:
                    self._heard_at = time.monotonic()
                await asyncio.sleep(_BEAT_S if heard else _AGAIN_S)
        finally:
            await self._drop()

    async def _ask(self) -> bool:
        """One question to any broker; a connection that failed is made anew from the settings."""
        with suppress(BridgeError, TimeoutError):
            if self._connection is None:
                connection = make_client(self._client)
                await start_client(connection, _WITHIN_S)
                self._connection = connection
                connection.set_topics([self._topic])
            async with asyncio.timeout(_WITHIN_S):
                if await self._connection.force_metadata_update():
                    return True
        await self._drop()
        return False

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await kill(connection)
