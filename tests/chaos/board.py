"""What the load sees of the bridge: the approvals as a read_committed reader last saw them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

from bridge.audit.reader import partitions_of


class Board:
    """`progress` are the moments (time.monotonic()) at which something new was seen."""

    def __init__(self) -> None:
        self.latest: dict[str, dict[str, Any]] = {}
        self.progress: list[float] = []
        self._changed = asyncio.Condition()

    def is_published(self, approval_id: str) -> bool:
        return approval_id in self.latest

    def is_closed(self, approval_id: str) -> bool:
        """Whether the question's run has an outcome."""
        return self.latest.get(approval_id, {}).get("run_outcome") is not None

    def outcomes(self) -> Counter[tuple[str, str]]:
        """Runs by protocol and outcome, the open ones among them."""
        ends = {
            body["command_id"]: (body["protocol"], body.get("run_outcome") or "open")
            for body in self.latest.values()
        }
        return Counter(ends.values())

    async def until(self, holds: Callable[[], bool], deadline: float) -> bool:
        """Wait until `holds()`; False when `deadline` (time.monotonic()) comes first."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())), self._changed:
                await self._changed.wait_for(holds)
        return holds()

    async def read(self, consumer: AIOKafkaConsumer) -> None:
        """Follow the topic until cancelled."""
        while True:
            try:
                batches = await consumer.getmany(timeout_ms=100)
            except KafkaError:
                await asyncio.sleep(0.2)
                continue
            if batches:
                await self._take([record for batch in batches.values() for record in batch])

    async def _take(self, records: list[Any]) -> None:
        for record in records:
            key = (record.key or b"").decode()
            if record.value is not None:
                self.latest[key] = json.loads(record.value)
            else:
                self.latest.pop(key, None)
        self.progress.append(time.monotonic())
        async with self._changed:
            self._changed.notify_all()


@contextlib.asynccontextmanager
async def watching(bootstrap: str, approvals: str) -> AsyncIterator[Board]:
    """A board that follows the topic of approvals from its start."""
    board = Board()
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        enable_auto_commit=False,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        fetch_max_wait_ms=5,  # a busy partition waits for the answer about the idle ones
    )
    await consumer.start()
    reading: asyncio.Task[None] | None = None
    try:
        consumer.assign(await partitions_of([approvals], bootstrap_servers=bootstrap))
        reading = asyncio.create_task(board.read(consumer))
        yield board
    finally:
        if reading is not None:
            reading.cancel()
            await asyncio.wait([reading])
        await consumer.stop()
