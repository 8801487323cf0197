"""The time by the cluster's own clock."""

from __future__ import annotations

import time

from bridge.kafka.quorum import cluster_time


async def test_the_cluster_tells_its_time_to_who_writes_nothing(bootstrap: str) -> None:
    before = time.time() * 1000
    told = await cluster_time({"bootstrap_servers": bootstrap})
    assert told is not None
    assert before - 60_000 < told < time.time() * 1000 + 60_000
