"""A child that writes a bare aiokafka transaction of ten records for each number it is told."""

from __future__ import annotations

import asyncio
from typing import Any

from bridge.kafka.clients import make_producer
from tests.bench.child import hear, job, say

RECORDS = 10


async def _write(given: dict[str, Any]) -> None:
    # The client with the bridge's own settings: its defaults wait longer between retries
    producer = make_producer({"bootstrap_servers": given["bootstrap"]}, f"{given['topic']}-bare")
    await producer.start()
    try:
        say({"ready": True})
        while message := await asyncio.to_thread(hear):
            key = message["key"].encode()
            async with producer.transaction():
                for _ in range(RECORDS):
                    await producer.send(given["topic"], b"x" * 400, key, partition=0)
    finally:
        await producer.stop()


if __name__ == "__main__":
    asyncio.run(_write(job()))
