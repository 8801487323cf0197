"""A worker that stops between the broker's acknowledgement and its commit, to be killed there.

Arguments: bootstrap, transactional id, topics by role as JSON, key of the state record,
and the transaction timeout in seconds.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any

from bridge.kafka.transaction import SlotProducer
from bridge.records.outgoing import Outgoing


class Victim(SlotProducer):
    """Waits for ever where the commit would come."""

    async def _send(self, outgoing: Sequence[Outgoing]) -> Any:
        await super()._send(outgoing)
        print("acknowledged", flush=True)
        await asyncio.Event().wait()


async def main(bootstrap: str, transactional_id: str, topics: str, key: str, timeout: str) -> None:
    producer = Victim(
        {"bootstrap_servers": bootstrap},
        transactional_id,
        0,
        json.loads(topics),
        deadline=60,
        timeout=float(timeout),
    )
    await producer.start()
    await producer.commit([Outgoing("state", key.encode(), b"never")])


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
