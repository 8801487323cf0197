"""A worker that stands still on one slot says so to whoever asks: probe, operator, doctor."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from bridge.cli.main import main
from bridge.config import load
from bridge.kafka.post import post
from bridge.kafka.reader import snapshot
from bridge.kafka.worker import Worker
from tests.integration.kafka.deployment import at_home, eventually, question
from tests.integration.settled import settle_in

SLOTS = 2


@pytest.fixture
async def settings(
    bootstrap: str, unique: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The settings of a deployment of two slots, its topics made; any free HTTP port."""
    return await settle_in(bootstrap, unique, tmp_path, monkeypatch, SLOTS)


@asynccontextmanager
async def working(settings: Path) -> AsyncIterator[Worker]:
    worker = Worker(load(settings))
    task = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        assert await task == 0


async def readyz(worker: Worker) -> tuple[int, dict[str, Any]]:
    """Status and body of the probe, asked over HTTP."""
    port = worker.port
    if port is None:
        return 0, {}
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /readyz HTTP/1.1\r\nHost: worker\r\n\r\n")
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), json.loads(body)


async def answering(
    worker: Worker, good: Callable[[int, dict[str, Any]], bool]
) -> tuple[int, dict[str, Any]]:
    """The probe's answer once it is as wanted."""
    for _ in range(300):
        answer = await readyz(worker)
        if good(*answer):
            return answer
        await asyncio.sleep(0.1)
    raise TimeoutError(f"still {answer}")


def serving(status: int, body: dict[str, Any]) -> bool:
    return status == 200 and len(body["slots"]) == SLOTS


async def test_a_lost_position_is_told_by_probe_and_doctor(
    settings: Path, bootstrap: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """503 with the error that names the place, while the other slot goes on publishing."""
    config = load(settings)
    client, (topic,) = config.kafka.client_kwargs(), config.sources[0].topic_names
    approvals = config.topics.names()["approvals"]

    async def ask(slot: int, number: int) -> None:
        thread = at_home(slot, SLOTS, number)
        await post(client, topic, thread.encode(), question(thread), slot)

    async def asked(count: int) -> None:
        await eventually(lambda: _published(client, approvals), lambda found: found == count)

    async with working(settings) as worker:
        await answering(worker, serving)
        await ask(0, 1)
        await asked(1)
    await ask(0, 2)
    await ask(0, 3)
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for done in admin.delete_records([TopicPartition(topic, 0, 3)]).values():
        done.result(20)
    await ask(0, 4)
    async with working(settings) as worker:
        _, body = await answering(worker, lambda status, body: bool(body.get("errors")))
        assert body["slots"]["0"] == "stopped"
        assert f"{topic}/0 at 1" in body["errors"]["0"]
        await ask(1, 5)
        await asked(2)
        capsys.readouterr()
        assert await asyncio.to_thread(main, ["doctor", "--config", str(settings)]) == 3
        told = capsys.readouterr().out
    assert "ok    workers: 1 in the group" in told
    assert "fail  positions: slot 0 has lost 1" in told
    assert "fail  slots: slot 0 did not answer" in told
    assert "ok    slots: slot 1 answered" in told


async def _published(client: dict[str, Any], approvals: str) -> int:
    return sum(record.value is not None for record in await snapshot(client, approvals))
