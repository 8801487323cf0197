"""`positions show` and `positions skip` on a real deployment: the way on for a stopped slot."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin import NewTopic

from bridge.cli.main import main
from bridge.errors import RecordUnreadable
from bridge.kafka.doctor.positions import look_at_positions
from bridge.kafka.positions import Inputs
from bridge.records.topics import OWN_INPUTS
from tests.integration.kafka.deployment import (
    QUICK,
    Deploy,
    Deployment,
    at_home,
    caught_up,
    eventually,
    question,
    until,
)
from tests.integration.kafka.raw_produce import write_unreadable
from tests.topics import create_topics

Command = Callable[..., Awaitable[int]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Deployment], Command]:
    """`await command(deployment)("positions", "show")`: the exit code."""
    for name in [name for name in os.environ if name.startswith("BRIDGE_")]:
        monkeypatch.delenv(name)

    def of(deployment: Deployment) -> Command:
        settings = tmp_path / "bridge.toml"
        names = "".join(
            f'{role.replace("-", "_")} = "{name}"\n' for role, name in deployment.topics.items()
        )
        settings.write_text(
            f'app_id = "{deployment.app_id}"\n'
            f'[kafka]\nbootstrap_servers = "{deployment.bootstrap}"\n'
            f"[topics]\npartitions = {deployment.slots}\n{names}"
            f'[[sources]]\nname = "agents"\ntopics = {json.dumps(list(deployment.inputs))}\n',
            encoding="utf-8",
        )
        return lambda *words: asyncio.to_thread(main, [*words, "--config", str(settings)])

    return of


async def retention_strikes(deployment: Deployment) -> str:
    """Slot 0 has read one record of four when retention takes three; the topic's name."""
    (topic,) = deployment.inputs
    async with deployment.running() as slot:
        await deployment.ask(at_home(0, deployment.slots, 0))
        await eventually(lambda: deployment.stored(topic), lambda found: found.get(0) == 1)
        await caught_up(slot)
    for number in range(1, 4):
        await deployment.ask(at_home(0, deployment.slots, number))
    deployment.delete_records(topic, 0, 3)
    return topic


def shown(text: str) -> dict[tuple[str, int], dict[str, Any]]:
    lines = map(json.loads, text.splitlines())
    return {(line["topic"], line["partition"]): line for line in lines}


async def test_show_tells_positions_lag_and_loss(
    deploy: Deploy, command: Callable[[Deployment], Command], capsys: pytest.CaptureFixture[str]
) -> None:
    """Every input partition, also those of slots that nobody has opened yet."""
    deployment = await deploy(2, events=3)
    topic = await retention_strikes(deployment)
    await deployment.ask(at_home(0, 2, 9), partition=2)
    assert await command(deployment)("positions", "show", "--json") == 0
    found = shown(capsys.readouterr().out)
    assert len(found) == 3 + 3 * 2
    assert found[topic, 0] == {
        "slot": 0, "topic": topic, "partition": 0,
        "position": 1, "begin": 3, "end": 4, "lag": 1, "lost": True, "high": 4, "blocked_by": None,
    }  # fmt: skip
    assert (found[topic, 1]["slot"], found[topic, 1]["position"]) == (1, None)
    assert (found[topic, 2]["lag"], found[topic, 2]["lost"]) == (1, False)
    assert await command(deployment)("positions", "show") == 0
    assert "LOST" in capsys.readouterr().out


async def test_a_stopped_slot_goes_on_where_the_operator_says(
    deploy: Deploy, command: Callable[[Deployment], Command], capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing moves without --yes; with it the slot reads what is left, and says no more."""
    deployment = await deploy()
    topic = await retention_strikes(deployment)
    words = ("positions", "skip", "--slot", "0", "--to", "earliest")
    async with deployment.running() as slot:
        await until(lambda: slot.state == "stopped")
        assert await command(deployment)(*words) == 0
        assert f"{topic}/0: 1 → 3, skips up to 2 records, 0 of them" in capsys.readouterr().out
        assert await deployment.stored(topic) == {0: 1}
        assert await command(deployment)(*words, "--yes") == 0
        await caught_up(slot)
        await eventually(lambda: deployment.stored(topic), lambda found: found == {0: 4})
        assert slot.error is None
        assert await command(deployment)(*words, "--yes") == 0
        assert "has lost no position" in capsys.readouterr().out
    assert await deployment.asked() == [at_home(0, 1, 0), at_home(0, 1, 3)]


async def test_a_stopped_slot_goes_on_at_once(
    deploy: Deploy, command: Callable[[Deployment], Command]
) -> None:
    """It is woken by what the operator writes, not by its next look half a minute later."""
    deployment = await deploy()
    await retention_strikes(deployment)
    patient = replace(QUICK, retry=3_600.0)
    async with deployment.running(times=patient) as slot:
        await until(lambda: slot.state == "stopped")
        words = ("positions", "skip", "--slot", "0", "--to", "earliest", "--yes")
        assert await command(deployment)(*words) == 0
        await caught_up(slot)
    assert await deployment.asked() == [at_home(0, 1, 0), at_home(0, 1, 3)]


async def test_a_worker_that_serves_the_slot_reads_again_from_there(
    deploy: Deploy, command: Callable[[Deployment], Command]
) -> None:
    """It is fenced at its next write, opens again at the new position, and asks nothing twice."""
    deployment = await deploy()
    (topic,) = deployment.inputs
    place = ("--topic", topic, "--partition", "0")
    async with deployment.running() as slot:
        await deployment.ask("a")
        await eventually(lambda: deployment.stored(topic), lambda found: found == {0: 1})
        await caught_up(slot)
        words = ("positions", "skip", "--slot", "0", *place, "--to", "0", "--yes")
        assert await command(deployment)(*words) == 0
        assert await deployment.stored(topic) == {0: 0}
        await deployment.ask("b")
        await eventually(lambda: deployment.stored(topic), lambda found: found == {0: 2})
    assert await deployment.asked() == ["a", "b"]
    assert 'rebuilds_total{cause="fenced"} 1.0' in deployment.metrics.exposition().decode()


async def test_a_partition_that_is_gone_is_forgotten(
    deploy: Deploy, bootstrap: str, command: Callable[[Deployment], Command]
) -> None:
    """A topic made anew with fewer partitions stops the slot; skip drops what it remembers."""
    deployment = await deploy(1, events=2)
    (topic,) = deployment.inputs
    async with deployment.running() as slot:
        await deployment.ask("a", partition=1)
        await eventually(lambda: deployment.stored(topic), lambda found: found == {0: 0, 1: 1})
        await caught_up(slot)
    deployment.delete_topic(topic)
    await until(lambda: topic not in deployment.admin.list_topics().topics)
    await create_topics(bootstrap, [NewTopic(topic, 1, 1)])
    await deployment.ask("b")
    async with deployment.running() as slot:
        await until(lambda: slot.state == "stopped")
        assert f"{topic}/1 at 1" in str(slot.error)
        words = ("positions", "skip", "--slot", "0", "--to", "earliest", "--yes")
        assert await command(deployment)(*words) == 0
        await eventually(lambda: deployment.stored(topic), lambda found: found.get(0) == 1)
        await caught_up(slot)
    assert await deployment.asked() == ["a", "b"]


# --- Records that no client can decode ----------------------------------------------------------


async def unreadable(deployment: Deployment, *threads: str, bad: int) -> str:
    """A batch of questions, of which number `bad` cannot be decoded; the topic's name."""
    (topic,) = deployment.inputs
    values = [question(thread) for thread in threads]
    await write_unreadable(deployment.bootstrap, topic, 0, values, bad)
    return topic


async def test_an_unreadable_record_stops_its_slot_only(
    deploy: Deploy,
    command: Callable[[Deployment], Command],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What was before it is asked; the error names it and the command that goes on, once."""
    deployment = await deploy(2, events=2)
    before, lost, behind, other = (at_home(n == 3, 2, n) for n in range(4))
    topic = await unreadable(deployment, before, lost, behind, bad=1)
    after = at_home(0, 2, 5)
    await deployment.ask(after)
    async with deployment.running(0) as slot, deployment.running(1) as whole:
        await until(lambda: slot.state == "stopped")
        await deployment.ask(other, partition=1)
        await eventually(deployment.asked, lambda found: set(found) == {before, other})
        await asyncio.sleep(1)  # five looks
        assert (slot.state, whole.state) == ("stopped", "serving")
        assert isinstance(slot.error, RecordUnreadable)
        assert f"{topic}/0/1 cannot be decoded (UnicodeDecodeError)" in str(slot.error)
        assert "rebuilds_total{" not in deployment.metrics.exposition().decode()
        words = str(slot.error).split("interrupt-bridge ")[1].split()
        assert (
            words == f"positions skip --slot 0 --topic {topic} --partition 0 --to 3 --yes".split()
        )
        assert await command(deployment)(*words) == 0
        await caught_up(slot)
        assert slot.error is None
    assert set(await deployment.asked()) == {before, other, after}
    said = [r for r in caplog.records if r.message.startswith("slot stopped")]
    assert len(said) == 1


async def test_what_blocks_an_input_is_shown(
    deploy: Deploy, command: Callable[[Deployment], Command], capsys: pytest.CaptureFixture[str]
) -> None:
    """Where it holds readers back, whose transaction it is, and what has come since."""
    deployment = await deploy()
    (topic,) = deployment.inputs
    await deployment.ask("read")
    async with deployment.running() as slot:
        await caught_up(slot)
    async with deployment.transaction() as agent, agent.transaction():
        await agent.send_and_wait(topic, question("a"), b"a", partition=0)
        await deployment.ask("b")
        assert await command(deployment)("positions", "show", "--json") == 0
        shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        (at,) = (each for each in shown if each["topic"] == topic)
        assert (at["end"], at["high"], at["lag"], at["lost"]) == (1, 3, 2, False)
        assert at["blocked_by"]["start"] == 1
        assert await command(deployment)("positions", "show") == 0
        told = f"BLOCKED at 1 by producer {at['blocked_by']['producer_id']} since 20"
        assert told in capsys.readouterr().out


async def test_the_doctor_finds_the_slot_that_stands_still(deploy: Deploy) -> None:
    """Its worker keeps its seat in the group; the other slot has nothing to read and is well."""
    deployment = await deploy(2, events=2)
    await unreadable(deployment, "t", bad=0)
    names = [*deployment.inputs, *(deployment.topics[role] for role in OWN_INPUTS)]
    inputs = Inputs(deployment.topics, names, deployment.slots)
    async with deployment.running(0) as slot, deployment.running(1) as whole:
        await until(lambda: slot.state == "stopped")
        await caught_up(whole)
        checks = await look_at_positions(deployment.client, inputs)
    assert [check.grade for check in checks] == ["warn"]
    assert checks[0].found == "slot 0 has 1 offset left to read and reads none"


async def test_trace_goes_on_behind_an_unreadable_record(
    deploy: Deploy, command: Callable[[Deployment], Command], capsys: pytest.CaptureFixture[str]
) -> None:
    """It tells all else of the thread, names the record, and its exit code says what lacks."""
    deployment = await deploy(1, events=2)
    await deployment.ask("t", partition=1)
    topic = await unreadable(deployment, "t", "t", bad=1)
    await deployment.ask("t")
    assert await command(deployment)("trace", "t") == 3
    told, complained = capsys.readouterr()
    places = {line.rsplit("[")[-1].rstrip("]") for line in told.splitlines()}
    assert places == {f"{topic}/0/0", f"{topic}/0/2", f"{topic}/1/0"}
    assert complained.count("record_unreadable") == 1
    assert f"{topic}/0/1 cannot be decoded" in complained
