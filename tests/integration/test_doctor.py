"""`doctor` on a real deployment: what is well is called so, and each trouble ends with exit 3."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest
from aiokafka import AIOKafkaProducer

from bridge.cli.main import main
from bridge.config import Config, load
from bridge.kafka.names import group_id
from bridge.kafka.reader import snapshot
from bridge.kafka.worker import Worker
from bridge.records.topics import Role
from tests.integration.kafka.deployment import until
from tests.integration.settled import settle_in

SLOTS = 2
Doctor = Callable[[], Awaitable[tuple[int, list[dict[str, Any]]]]]


@pytest.fixture
async def settings(
    bootstrap: str, unique: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    return await settle_in(bootstrap, unique, tmp_path, monkeypatch, SLOTS)


@pytest.fixture
def doctor(settings: Path, capsys: pytest.CaptureFixture[str]) -> Doctor:
    """The exit code and the findings."""

    async def run() -> tuple[int, list[dict[str, Any]]]:
        capsys.readouterr()
        code = await asyncio.to_thread(main, ["doctor", "--json", "--config", str(settings)])
        return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


@asynccontextmanager
async def working(settings: Path) -> AsyncIterator[Config]:
    """A worker that serves every slot."""
    config = load(settings)
    worker = Worker(config)
    task = asyncio.create_task(worker.run())
    try:
        await until(lambda: _serves(worker), within=60)
        yield config
    finally:
        worker.stop()
        assert await task == 0


def _serves(worker: Worker) -> bool:
    return list(worker.readiness()[1]["slots"].values()) == ["serving"] * SLOTS


def failed(findings: list[dict[str, Any]]) -> dict[str, str]:
    """What failed by subject, the advice with it; no failure is without one or the other."""
    return {
        each["subject"]: f"{each['found']}; {each['advice']}"
        for each in findings
        if each["grade"] == "fail"
    }


async def test_where_every_slot_answers_all_is_well(
    settings: Path, doctor: Doctor, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each thing is asked for itself; the probes leave a verdict each and nothing else."""
    async with working(settings) as config:
        code, findings = await doctor()
        assert failed(findings) == {}
        assert code == 0
        subjects = [each["subject"] for each in findings if each["grade"] == "ok"]
        assert {"rights", "topics", "workers", "state", "transaction", "clock"} <= set(subjects)
        assert {"positions", "open transactions", "slots", "approvals"} <= set(subjects)
        assert findings[-1]["found"].startswith("slots 0-1 answered a probe within")
        client = config.kafka.client_kwargs()
        written: dict[Role, int] = {"answer-verdicts": SLOTS, "dead-letters": 0, "reroute": 0}
        for role, count in written.items():
            assert len(await snapshot(client, config.topics.names()[role])) == count
        capsys.readouterr()
        assert await asyncio.to_thread(main, ["doctor", "--config", str(settings)]) == 0
        told = capsys.readouterr()
        assert told.out.splitlines()[-1] in ("all is well", "it works, with 1 warnings")
        assert told.err == ""  # progress is for terminals


async def test_without_a_worker_nothing_is_well(doctor: Doctor) -> None:
    code, findings = await doctor()
    assert code == 3
    assert "interrupt-bridge run" in failed(findings)["workers"]
    assert "none of 2 is served" in failed(findings)["slots"]


async def test_a_stranger_in_the_group_is_named(settings: Path, doctor: Doctor) -> None:
    """A plain consumer that took the group's name for its own."""
    config = load(settings)
    name = group_id(config.app_id, config.topics.names()["state"])
    stranger = confluent_kafka.Consumer(
        {
            "bootstrap.servers": config.kafka.bootstrap_servers,
            "group.id": name,
            "client.id": "reporting",
        }
    )
    stranger.subscribe([config.topics.names()["state"]])
    try:
        for _ in range(150):
            await asyncio.to_thread(stranger.poll, 0.2)
            if stranger.assignment():
                break
        code, findings = await doctor()
    finally:
        await asyncio.to_thread(stranger.close)
    assert code == 3
    told = [each["found"] for each in findings if each["subject"] == "workers"]
    assert any("reporting at " in found and "is no worker" in found for found in told)


async def test_settings_of_another_app_id_are_told_apart(
    settings: Path, doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its state is another's; and none of its slots is served, for its own group is empty."""
    async with working(settings) as config:
        monkeypatch.setenv("BRIDGE_APP_ID", "someone-else")
        code, findings = await doctor()
    assert code == 3
    assert f"it belongs to app_id {config.app_id}" in failed(findings)["state"]


async def test_an_input_that_an_agent_blocks_is_named(settings: Path, doctor: Doctor) -> None:
    """With what ends it; the slots themselves are well."""
    async with working(settings) as config:
        client, (topic,) = config.kafka.client_kwargs(), config.sources[0].topic_names
        agent = AIOKafkaProducer(**client, transactional_id=topic)
        async with agent, agent.transaction():
            await agent.send_and_wait(topic, b"{}", partition=1)
            code, findings = await doctor()
    assert code == 3
    assert set(failed(findings)) == {"positions"}
    assert f"{topic}/1 is held back at 0" in failed(findings)["positions"]
    assert "kafka-transactions.sh abort" in failed(findings)["positions"]
