"""A child that writes a bare aiokafka transaction of ten records for each number it is told."""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka import AIOKafkaProducer

from tests.bench.child import hear, job, say

RECORDS = 10


async def _write(given: dict[str, Any]) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=given["bootstrap"],
        transactional_id=f"{given['topic']}-bare",
        compression_type="zstd",
    )
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
