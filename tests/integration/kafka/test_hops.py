"""Hops under way while settings change: read by what they say they are, or not read at all."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.errors import SourceNotConfigured
from bridge.kafka.post import post
from bridge.kafka.reader import snapshot
from tests.integration.kafka.deployment import (
    Deploy,
    Deployment,
    at_home,
    caught_up,
    eventually,
    until,
)
from tests.topics import MakeTopics

SLOTS = 2


async def hop_home(deployment: Deployment, thread: str, to: int) -> None:
    """An event on the other slot's partition, sent home by a worker that knows its source."""
    await deployment.ask(thread, partition=1 - to)
    async with deployment.running(1 - to) as sender:
        await caught_up(sender)


async def verdicts(deployment: Deployment) -> list[tuple[str, str]]:
    """Verdict and topic of origin of all that were published."""
    found = await snapshot(deployment.client, deployment.topics["answer-verdicts"])
    bodies = [json.loads(each.value) for each in found if each.value]
    return [(body["verdict"], body["origin"]["topic"]) for body in bodies]


async def test_an_unknown_source_stops_its_slot_and_no_other(deploy: Deploy) -> None:
    """Neither asked nor judged as something else; where it is configured it is asked, once."""
    old = await deploy(SLOTS, events=SLOTS, elsewhere=SLOTS)
    events, elsewhere = old.inputs
    thread = at_home(0, SLOTS)
    await hop_home(old, thread, to=0)
    new = replace(old, source="others", inputs={elsewhere: "earliest"})
    async with new.running(0) as stopped, new.running(1) as other:
        await until(lambda: stopped.state == "stopped")
        assert isinstance(stopped.error, SourceNotConfigured)
        assert "agents is not configured" in str(stopped.error)
        assert f"positions skip --slot 0 --topic {old.topics['reroute']}" in str(stopped.error)
        await caught_up(other)
        await new.ask(at_home(1, SLOTS), elsewhere, partition=1)
        await eventually(new.asked, lambda asked: asked == [at_home(1, SLOTS)])
        await until(lambda: stopped.state == "stopped")  # however often it looks
    assert await verdicts(old) == []
    async with replace(old, inputs={events: "earliest"}).running(0) as healed:
        await caught_up(healed)
    assert sorted(await old.asked()) == sorted([thread, at_home(1, SLOTS)])


@pytest.mark.parametrize("role", ["answers", "operations"])
async def test_hops_survive_a_new_name_of_their_topic(
    deploy: Deploy, role: str, make_topics: MakeTopics
) -> None:
    """The record is judged as what it was when it was sent, and its verdict says where it stood."""
    old = await deploy(SLOTS, events=SLOTS)
    thread = at_home(0, SLOTS)
    await old.ask(thread, partition=0)
    named = {"source": "agents", "thread_id": thread, "run_id": "run-1"}
    said = {
        "answers": {**named, "interrupt_id": "int-1", "status": "resolved", "payload": 1},
        "operations": {**named, "op": "withdraw", "reason": "test"},
    }
    value = json.dumps(said[role]).encode()
    await post(old.client, old.topics[role], b"elsewhere", value, 1)
    async with old.running(1) as sender:
        await caught_up(sender)
    renamed = await make_topics(
        "renamed", partitions=SLOTS, config={"message.timestamp.type": "LogAppendTime"}
    )
    new = replace(old, topics=old.topics | {role: renamed["renamed"]})
    async with new.running(0) as slot:
        await caught_up(slot)
    assert await verdicts(new) == [("accepted", old.topics[role])]
