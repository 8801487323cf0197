"""A worker that cannot write leaves its slots to others, says so, and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from bridge.config import Config, load
from bridge.kafka.post import post
from bridge.kafka.reader import snapshot
from bridge.kafka.worker import Worker
from tests.integration.kafka.deployment import Deployment, eventually, question, until
from tests.integration.settled import settle_in

GIVE_UP_S = 10


@pytest.fixture
async def config(
    bootstrap: str, unique: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Config:
    """One slot, its topics made, and little patience."""
    patience = f'[worker]\ngive_up = "{GIVE_UP_S}s"\ntransaction_deadline = "2s"\n'
    return load(await settle_in(bootstrap, unique, tmp_path, monkeypatch, 1, patience))


async def test_it_leaves_the_group_and_joins_again(config: Config) -> None:
    """The state topic takes no record of that size any more; brokers answer, nothing is written."""
    client = config.kafka.client_kwargs()
    names = config.topics.names()
    cluster = Deployment(config.kafka.bootstrap_servers, config.app_id, names, {})
    worker = Worker(config)
    task = asyncio.create_task(worker.run())
    try:
        await until(lambda: worker.readiness()[0])
        cluster.set_topic(names["state"], "max.message.bytes", "80")
        await post(client, config.sources[0].topic_names[0], b"thread", question("thread"), 0)
        await until(lambda: "gave_up" in worker.readiness()[1], within=90)
        ready, body = worker.readiness()
        assert not ready
        assert body["gave_up"].startswith("none of 1 slots could be opened (transaction_failed)")
        told = worker.metrics.exposition().decode()
        assert 'interrupt_bridge_gave_up_total{cause="transaction_failed"} 1.0' in told
        await until(lambda: not worker.assigned)
        cluster.set_topic(names["state"], "max.message.bytes", "1048588")
        await until(lambda: worker.readiness()[0], within=90)
        assert "gave_up" not in worker.readiness()[1]
        await eventually(
            lambda: snapshot(client, names["approvals"]),
            lambda found: any(each.value for each in found),
        )
    finally:
        worker.stop()
        assert await task == 0
