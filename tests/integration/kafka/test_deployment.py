"""A deployment knows its own state: another's, a lost one and a renamed one are never mistaken."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from aiokafka.admin import NewTopic

from bridge.errors import BridgeError, ConfigError, DeploymentMismatch, StateLost
from bridge.kafka import adoption
from bridge.kafka.adoption import read_births
from bridge.kafka.names import transactional_id
from bridge.kafka.pending import pending_approvals, unknown_approvals
from bridge.kafka.reader import snapshot
from bridge.kafka.slot import Slot
from bridge.kafka.transaction import SlotProducer
from bridge.records.outgoing import Outgoing
from bridge.records.topics import Topics
from tests.integration.kafka.deployment import (
    Deploy,
    Deployment,
    caught_up,
    eventually,
    until,
)
from tests.topics import create_topics

KEY = b"__bridge/doctor"
STAMPED = {"message.timestamp.type": "LogAppendTime"}


async def stopped(slot: Slot, kind: type[BridgeError]) -> str:
    """What a slot says that has stopped for this reason."""
    await until(lambda: slot.state == "stopped" and isinstance(slot.error, kind))
    return str(slot.error)


async def published(deployment: Deployment) -> int:
    """Records on the outputs, marks not counted."""
    roles = ("approvals", "resume-commands", "answer-verdicts", "dead-letters")
    found = await snapshot(deployment.client, *(deployment.topics[role] for role in roles))
    return sum(each.value is not None for each in found)


async def made_anew(deployment: Deployment, role: str = "state") -> None:
    """The topic is deleted and made again, as an operator or a script does."""
    topic = deployment.topics[role]
    deployment.delete_topic(topic)
    for _ in range(50):
        try:
            partition = NewTopic(topic, deployment.slots, 1, topic_configs=STAMPED)
            await create_topics(deployment.bootstrap, [partition])
            return
        except (AssertionError, BridgeError):
            await asyncio.sleep(0.2)
    raise AssertionError(f"{topic} still exists")


def tool(deployment: Deployment) -> adoption.Deployment:
    """What the command makes of the settings."""
    own = [deployment.topics[role] for role in ("answers", "operations", "reroute")]
    return adoption.Deployment(
        client=deployment.client,
        app_id=deployment.app_id,
        topics=deployment.topics,
        slots=deployment.slots,
        inputs=[*deployment.inputs, *own],
    )


def conditions(found: Sequence[adoption.Holding]) -> list[str]:
    return [each.condition for each in found]


async def test_another_app_id_on_the_same_topics_is_refused(deploy: Deploy) -> None:
    """It doubled every command. Its being there harms nobody, however often it looks."""
    first = await deploy()
    second = replace(first, app_id=f"{first.app_id}-2")
    await first.ask("thread-1")
    async with first.running() as slot:
        await caught_up(slot)
        async with second.running() as other:
            said = await stopped(other, DeploymentMismatch)
            assert f"Set app_id = {first.app_id}" in said
            assert "deployment adopt --yes" in said
            await first.ask("thread-2")
            await eventually(first.asked, lambda asked: asked == ["thread-1", "thread-2"])
            assert slot.state == "serving"
    assert first.metrics.exposition().count(b'transactions_total{result="fenced"}') == 0


@pytest.mark.parametrize("number", range(3))
async def test_of_two_that_begin_at_once_one_has_it(deploy: Deploy, number: int) -> None:
    """Whoever is first in the log, and both see it so; compaction and restarts change nothing."""
    one = await deploy()
    two = replace(one, app_id=f"{one.app_id}-2")
    await one.ask("thread-1")
    async with one.running() as a, two.running() as b:
        await until(lambda: {a.state, b.state} == {"serving", "stopped"})
        winner, loser = (one, two) if a.state == "serving" else (two, one)
    (birth,) = await read_births(one.client, one.topics["state"])
    assert birth is not None
    assert birth.app_id == winner.app_id
    async with loser.running() as again:
        await stopped(again, DeploymentMismatch)
    async with winner.running() as again:
        await caught_up(again)
    assert await one.asked() == ["thread-1"]


async def test_one_app_id_on_two_prefixes_fences_nobody(deploy: Deploy) -> None:
    """They fenced each other for ever: names hold the state topic as well."""
    one = await deploy()
    others = Topics({role: f"{name}-2" for role, name in one.topics.items()})
    events = {f"{topic}-2": start for topic, start in one.inputs.items()}
    new = [NewTopic(n, 1, 1, topic_configs=STAMPED) for n in (*others.values(), *events)]
    await create_topics(one.bootstrap, new)
    two = replace(one, topics=others, inputs=events)
    async with one.running() as a, two.running() as b:
        await caught_up(a)
        await caught_up(b)
        for number in range(3):
            await one.ask(f"one-{number}")
            await two.ask(f"two-{number}")
        await eventually(one.asked, lambda asked: len(asked) == 3)
        await eventually(two.asked, lambda asked: len(asked) == 3)
    for each in (one, two):
        assert each.metrics.exposition().count(b'result="fenced"') == 0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"slots": 2}, "topics.partitions = 1"),
        ({"topics": {"reroute": "elsewhere"}}, "Set it back"),
    ],
)
async def test_other_settings_of_the_same_deployment_are_refused(
    deploy: Deploy, changed: dict[str, Any], said: str
) -> None:
    """What cannot change under work in hand."""
    first = await deploy()
    async with first.running() as slot:
        await caught_up(slot)
    if "topics" in changed:
        name = f"{first.topics['reroute']}-2"
        await create_topics(first.bootstrap, [NewTopic(name, 1, 1, topic_configs=STAMPED)])
        changed = {"topics": {**first.topics, "reroute": name}}
    async with replace(first, **changed).running() as other:
        assert said in await stopped(other, DeploymentMismatch)


async def test_a_state_made_anew_while_nobody_looked_is_no_fresh_start(deploy: Deploy) -> None:
    """Every command was issued again."""
    deployment = await deploy()
    await deployment.ask("thread-1")
    async with deployment.running() as slot:
        await caught_up(slot)
    before = await published(deployment)
    await made_anew(deployment)
    async with deployment.running() as slot:
        said = await stopped(slot, StateLost)
        assert f"{deployment.topics['state']}/0" in said
        assert "deployment adopt --inputs latest" in said
    assert await published(deployment) == before


@pytest.mark.parametrize("busy", [True, False])
async def test_a_state_made_anew_under_a_worker_stops_the_slot(deploy: Deploy, busy: bool) -> None:
    """Its questions stayed pending for ever, and nothing told of it."""
    deployment = await deploy()
    for number in range(5):
        await deployment.ask(f"thread-{number}")
    async with deployment.running() as slot:
        await caught_up(slot)
        await made_anew(deployment)
        if busy:
            await deployment.ask("thread-5")
        said = await stopped(slot, StateLost)
        assert "deployment adopt" in said
        assert len(set(await deployment.asked())) == len(await deployment.asked())


async def pending(deployment: Deployment) -> int:
    """Approvals that wait for an answer."""
    found = await pending_approvals(deployment.client, deployment.topics["approvals"])
    return sum(map(len, found.values()))


async def test_a_lost_state_is_adopted_deliberately(deploy: Deploy) -> None:
    """With the word from where to read on; the slot that stood still goes on by itself."""
    deployment = await deploy()
    await deployment.ask("thread-1")
    async with deployment.running() as slot:
        await caught_up(slot)
        await made_anew(deployment)
        await stopped(slot, StateLost)
        with pytest.raises(ConfigError, match="earliest, latest"):
            await adoption.adopt(tool(deployment), None)
        (lost,) = await adoption.adopt(tool(deployment), "latest")
        assert (lost.condition, lost.pending) == ("lost", 1)
        await caught_up(slot)
        await deployment.ask("thread-2")
        await eventually(deployment.asked, lambda asked: asked == ["thread-1", "thread-2"])
    assert conditions(await adoption.holdings(tool(deployment))) == ["ours"]
    (ghost,) = (await unknown_approvals(deployment.client, deployment.topics))[0]
    written = await snapshot(deployment.client, deployment.topics["approvals"])
    first, second = (each.key for each in written if each.value is not None)
    assert ghost.encode() == first != second
    assert await pending(deployment) == 2


async def test_a_deployment_is_handed_over_deliberately(deploy: Deploy) -> None:
    """The state is kept; who had it before finds out whose it is now, and stays away."""
    old = await deploy()
    new = replace(old, app_id=f"{old.app_id}-2")
    await old.ask("thread-1")
    async with old.running() as before:
        await caught_up(before)
        assert conditions(await adoption.adopt(tool(new), None)) == ["another's"]
        await stopped(before, DeploymentMismatch)
        async with new.running() as after:
            await caught_up(after)
            await new.ask("thread-2")
            await eventually(new.asked, lambda asked: asked == ["thread-1", "thread-2"])
            assert await adoption.adopt(tool(new), None) == []
        assert isinstance(before.error, DeploymentMismatch)
    (birth,) = await read_births(new.client, new.topics["state"])
    assert birth is not None
    assert birth.app_id == new.app_id


async def test_marks_of_tools_are_no_life_of_a_slot(deploy: Deploy) -> None:
    """`doctor` may have looked before the first worker starts."""
    deployment = await deploy()
    name = transactional_id(deployment.app_id, deployment.topics["state"], "doctor")
    producer = SlotProducer(deployment.client, name, 0, deployment.topics)
    await producer.start()
    marks = [Outgoing("state", KEY, None), Outgoing("approvals", KEY, None)]
    await producer.commit(marks)
    await producer.close()
    assert conditions(await adoption.holdings(tool(deployment))) == ["not begun"]
    async with deployment.running() as slot:
        await caught_up(slot)
