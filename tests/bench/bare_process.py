"""A child that writes a bare aiokafka transaction of ten records for each key it is told.

It answers with the instant it began at: on Linux all processes share one `time.perf_counter`.
"""

from __future__ import annotations

import asyncio
import time
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
            key, began = message["key"].encode(), time.perf_counter()
            async with producer.transaction():
                for _ in range(RECORDS):
                    await producer.send(given["topic"], b"x" * 400, key, partition=0)
            say({"began": began})
    finally:
        await producer.stop()


if __name__ == "__main__":
    asyncio.run(_write(job()))
