"""A child that restores one state partition, as a slot does when it opens."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from aiokafka.structs import ConsumerRecord

from bridge.kafka.restore import restore
from bridge.records.topics import Topics
from bridge.slot.engine import Engine
from tests.bench.child import job, say
from tests.bench.desk import make_desk
from tests.bench.profiling import profiled
from tests.bench.usage import own_cpu


async def _restore(given: dict[str, Any]) -> None:
    engine = Engine(make_desk(Topics.under(""), ""))

    def fold(batch: Sequence[ConsumerRecord]) -> None:
        engine.fold((record.key, record.value) for record in batch)

    client = {"bootstrap_servers": given["bootstrap"]}
    before = own_cpu()
    with profiled():
        done = await restore(client, given["topic"], 0, fold)
        engine.restored()
    pending = engine.ledger.pending.total()
    cpu = own_cpu() - before
    say({"records": done.records, "seconds": done.seconds, "cpu": cpu, "pending": pending})


if __name__ == "__main__":
    asyncio.run(_restore(job()))
