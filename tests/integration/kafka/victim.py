"""A worker that stops between the broker's acknowledgement and its commit, to be killed there.

Arguments: bootstrap, transactional id, topics by role as JSON, key of the state record,
and the transaction timeout in seconds.
"""

from __future__ import annotations

import asyncio
import json
import sys

from aiokafka import AIOKafkaProducer

from bridge.kafka.transaction import SlotProducer
from bridge.records.outgoing import Outgoing
from bridge.records.topics import Topics


async def wait_for_ever(_producer: AIOKafkaProducer) -> None:
    """Where the commit would come: by then every record is acknowledged."""
    print("acknowledged", flush=True)
    await asyncio.Event().wait()


async def main(bootstrap: str, transactional_id: str, topics: str, key: str, timeout: str) -> None:
    producer = SlotProducer(
        {"bootstrap_servers": bootstrap},
        transactional_id,
        0,
        Topics(json.loads(topics)),
        deadline=60,
        timeout=float(timeout),
    )
    await producer.start()
    AIOKafkaProducer.commit_transaction = wait_for_ever
    await producer.commit([Outgoing("state", key.encode(), b"never")])


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
