"""Where a slot reads: positions past markers, positions lost, partitions and topics that change."""

from __future__ import annotations

import asyncio
import time

import pytest
from aiokafka.admin import NewTopic

from bridge.errors import PositionLost
from bridge.kafka.lease import Membership
from bridge.kafka.reader import snapshot
from bridge.kafka.transaction import SlotProducer
from bridge.records.outgoing import Outgoing
from tests.integration.kafka.deployment import (
    Deploy,
    Deployment,
    at_home,
    caught_up,
    eventually,
    question,
    until,
)
from tests.topics import create_topics

# --- Transactional inputs ---------------------------------------------------------------------


async def commit(deployment: Deployment, *threads: str) -> None:
    """An agent's transaction that asks for these threads."""
    (topic,) = deployment.inputs
    async with deployment.transaction() as agent, agent.transaction():
        for thread in threads:
            await agent.send_and_wait(topic, question(thread), thread.encode(), partition=0)


async def abort(deployment: Deployment, thread: str) -> None:
    """An agent asks and takes it back before anybody may see it."""
    (topic,) = deployment.inputs
    async with deployment.transaction() as agent:
        await agent.begin_transaction()
        await agent.send_and_wait(topic, question(thread), thread.encode(), partition=0)
        await agent.abort_transaction()


async def test_a_marker_leaves_no_lag(deploy: Deploy) -> None:
    """Two records and the marker behind them: lag 0, and the stored position is past all three."""
    deployment = await deploy()
    (topic,) = deployment.inputs
    await commit(deployment, "a", "b")
    async with deployment.running() as slot:
        await caught_up(slot)
        lag = slot.figures().lag
        await stored(deployment, topic, {0: 3})
    assert lag[topic] == 0
    assert await deployment.asked() == ["a", "b"]


async def test_aborted_records_are_no_input(deploy: Deploy) -> None:
    """What an agent took back asks nobody; what it commits afterwards does."""
    deployment = await deploy()
    (topic,) = deployment.inputs
    async with deployment.running() as slot:
        await caught_up(slot)
        await abort(deployment, "taken-back")
        await stored(deployment, topic, {0: 2})
        assert slot.figures().lag[topic] == 0
        await commit(deployment, "meant")
        await stored(deployment, topic, {0: 4})
    assert await deployment.asked() == ["meant"]


async def test_an_open_transaction_holds_back_and_then_comes(deploy: Deploy) -> None:
    """Nothing is read while it may still be aborted, and nothing is forgotten."""
    deployment = await deploy()
    (topic,) = deployment.inputs
    async with deployment.running() as slot, deployment.transaction() as agent:
        await caught_up(slot)
        async with agent.transaction():
            await agent.send_and_wait(topic, question("a"), b"a", partition=0)
            await deployment.ask("b")
            await asyncio.sleep(0.5)
            assert await deployment.asked() == []
        await stored(deployment, topic, {0: 3})
    assert await deployment.asked() == ["a", "b"]


async def test_what_waits_behind_an_open_transaction_is_shown(deploy: Deploy) -> None:
    """It counts as lag, and its seconds grow until the transaction ends."""
    deployment = await deploy()
    (topic,) = deployment.inputs
    async with deployment.running() as slot, deployment.transaction() as agent:
        await caught_up(slot)
        assert slot.figures().input_blocked[topic] == 0
        async with agent.transaction():
            await agent.send_and_wait(topic, question("a"), b"a", partition=0)
            await deployment.ask("b")
            await until(lambda: slot.figures().lag[topic] == 2)
            await until(lambda: slot.figures().input_blocked[topic] > 1)
            sample = f'interrupt_bridge_input_blocked_seconds{{topic="{topic}"}}'
            deployment.metrics.watch_slot(0, slot.figures)
            lines = deployment.metrics.exposition().decode().splitlines()
            (told,) = (line for line in lines if line.startswith(sample))
            assert float(told.split()[-1]) > 1
        await caught_up(slot)
        await until(lambda: slot.figures().input_blocked[topic] == 0)


async def test_a_quiet_transactional_topic_loses_no_position(deploy: Deploy) -> None:
    """Retention may empty a log up to its last marker: the position stands behind it."""
    deployment = await deploy()
    (topic,) = deployment.inputs
    await commit(deployment, "a")
    async with deployment.running() as slot:
        await caught_up(slot)
        await stored(deployment, topic, {0: 2})
    deployment.delete_records(topic, 0, 2)
    async with deployment.running() as slot:
        await caught_up(slot)
        assert slot.error is None
        await deployment.ask("b")
        await stored(deployment, topic, {0: 3})
    assert await deployment.asked() == ["a", "b"]


async def stored(deployment: Deployment, topic: str, wanted: dict[int, int]) -> None:
    """Until these are the stored positions of the topic, by partition."""
    await eventually(lambda: deployment.stored(topic), lambda found: found == wanted)


# --- Positions that are lost --------------------------------------------------------------------


async def lose_position(deployment: Deployment) -> str:
    """Slot 0 has read one record of four when retention takes three; the topic's name."""
    (topic,) = deployment.inputs
    thread = at_home(0, deployment.slots)
    await deployment.ask(thread)
    async with deployment.running() as slot:
        await caught_up(slot)
        await stored(deployment, topic, {0: 1, **await deployment.stored(topic)})
    for number in range(1, 4):
        await deployment.ask(at_home(0, deployment.slots, number))
    deployment.delete_records(topic, 0, 3)
    return topic


async def test_a_lost_position_stops_its_slot_only(deploy: Deploy) -> None:
    """R14: no silent jump; the error names the place and the command, and other slots go on."""
    deployment = await deploy(2, events=2)
    topic = await lose_position(deployment)
    other = at_home(1, 2)
    async with deployment.running(0) as broken, deployment.running(1) as whole:
        await until(lambda: broken.state == "stopped")
        await deployment.ask(other, partition=1)
        await stored(deployment, topic, {0: 1, 1: 1})
        assert isinstance(broken.error, PositionLost)
        assert f"{topic}/0 at 1" in str(broken.error)
        assert "positions skip --slot 0" in str(broken.error)
        await until(lambda: (broken.state, whole.state) == ("stopped", "serving"))
    assert set(await deployment.asked()) == {at_home(0, 2), other}


async def test_a_stopped_slot_says_so_once_and_keeps_looking(
    deploy: Deploy, caplog: pytest.LogCaptureFixture
) -> None:
    """It looks again every `retry`, and the log does not fill with what it knows already."""
    deployment = await deploy()
    await lose_position(deployment)
    before = await state_records(deployment)
    async with deployment.running() as slot:
        await until(lambda: slot.state == "stopped")
        await asyncio.sleep(1.5)
        assert slot.state == "stopped"
    said = [r for r in caplog.records if r.message.startswith("slot stopped")]
    assert len(said) == 1
    assert await state_records(deployment) == before


async def test_a_stopped_slot_that_was_given_away_stays_out(deploy: Deploy) -> None:
    """R8: it looks again only as a member, or it would fence the owner that goes on."""
    deployment = await deploy()
    await lose_position(deployment)
    asked: list[int] = []

    async def given_away(slot: int) -> Membership:
        asked.append(slot)
        return "not_member"

    async with deployment.running(membership=given_away) as slot:
        await until(lambda: slot.state == "stopped")
        owner = SlotProducer(deployment.client, deployment.transactional_id(), 0, deployment.topics)
        await owner.start()
        await until(lambda: len(asked) > 3)
        await owner.commit([Outgoing("state", b"still-mine", None)])
        await owner.close()


async def state_records(deployment: Deployment) -> int:
    """How many state records there are; a slot that may not open writes none."""
    return len(await snapshot(deployment.client, deployment.topics["state"]))


async def test_a_position_behind_the_end_is_lost_too(deploy: Deploy, bootstrap: str) -> None:
    """A topic that was made anew is shorter than what was read of it."""
    deployment = await deploy()
    topic = await lose_position(deployment)
    deployment.delete_topic(topic)
    await gone(deployment, topic)
    await create_topics(bootstrap, [NewTopic(topic, 1, 1)])
    async with deployment.running() as slot:
        await until(lambda: slot.state == "stopped")
        assert isinstance(slot.error, PositionLost)


async def test_a_position_lost_while_serving_stops_the_slot(deploy: Deploy) -> None:
    """Retention overtakes a slot that waits behind an open transaction."""
    deployment = await deploy()
    (topic,) = deployment.inputs
    async with deployment.running() as slot, deployment.transaction() as agent:
        await caught_up(slot)
        async with agent.transaction():
            await agent.send_and_wait(topic, question("a"), b"a", partition=0)
            await deployment.ask("b")
            deployment.delete_records(topic, 0, 2)
            await until(lambda: slot.state == "stopped")
            assert isinstance(slot.error, PositionLost)
            assert f"{topic}/0 at 0" in str(slot.error)


# --- Topics that change -----------------------------------------------------------------------


async def test_partitions_that_come_later_are_read_from_their_start(deploy: Deploy) -> None:
    """Also where the first start was `latest`: nobody has skipped these records on purpose."""
    deployment = await deploy(2, "latest", events=1)
    (topic,) = deployment.inputs
    await deployment.ask(at_home(0, 2))
    async with deployment.running() as slot:
        await caught_up(slot)
        deployment.add_partitions(topic, 4)
        await until(lambda: len(deployment.admin.list_topics(topic).topics[topic].partitions) == 4)
        late = at_home(0, 2, 7)
        await deployment.ask(late, partition=2)
        await stored(deployment, topic, {0: 1, 2: 1})
    assert await deployment.asked() == [late]


async def test_partitions_that_come_while_nobody_serves_are_read_from_their_start(
    deploy: Deploy,
) -> None:
    """How many partitions were seen is stored, so a restart knows the new ones."""
    deployment = await deploy(1, "latest", events=1)
    (topic,) = deployment.inputs
    async with deployment.running() as slot:
        await caught_up(slot)
    deployment.add_partitions(topic, 2)
    await until(lambda: len(deployment.admin.list_topics(topic).topics[topic].partitions) == 2)
    await deployment.ask("late", partition=1)
    async with deployment.running() as slot:
        await stored(deployment, topic, {0: 0, 1: 1})
    assert await deployment.asked() == ["late"]


async def test_any_number_of_input_partitions_is_read_once(deploy: Deploy) -> None:
    """More partitions than slots, and fewer: each record is read by one slot and published once."""
    deployment = await deploy(2, many=3, few=1)
    many, few = deployment.inputs
    threads = [at_home(number % 2, 2, number) for number in range(8)]
    for number, thread in enumerate(threads):
        topic = many if number < 6 else few
        await deployment.ask(thread, topic, number % 3 if topic == many else 0)
    async with deployment.running(0) as first, deployment.running(1) as second:
        await stored(deployment, many, {0: 2, 1: 2, 2: 2})
        await stored(deployment, few, {0: 2})
        await caught_up(first)
        await caught_up(second)
        await published(deployment, threads)
    assert sorted(await deployment.asked()) == sorted(threads)


async def published(deployment: Deployment, threads: list[str]) -> None:
    await eventually(deployment.asked, lambda found: len(found) >= len(threads))


async def test_a_deleted_topic_is_an_error_until_it_is_back(
    deploy: Deploy, bootstrap: str, caplog: pytest.LogCaptureFixture
) -> None:
    """R15: the client would wait in silence; the slot says what is missing and tries again."""
    deployment = await deploy()
    (topic,) = deployment.inputs
    async with deployment.running() as slot:
        await caught_up(slot)
        deployment.delete_topic(topic)
        missing = f"The topic {topic} does not exist"
        await until(lambda: any(missing in record.message for record in caplog.records), 40)
        await until(lambda: slot.error is not None)
        assert missing in str(slot.error)
        assert slot.state not in ("serving", "stopped")
        await create_topics(bootstrap, [NewTopic(topic, 1, 1)])
        await deployment.ask("back")
        await caught_up(slot, 60)
        await stored(deployment, topic, {0: 1})
    assert await deployment.asked() == ["back"]


async def gone(deployment: Deployment, topic: str) -> None:
    await until(lambda: topic not in deployment.admin.list_topics().topics)


# --- Where the first start reads from ------------------------------------------------------------


async def test_latest_is_resolved_once_and_a_restart_skips_nothing(deploy: Deploy) -> None:
    """What came before the first start is left out; what comes while nobody serves is not."""
    deployment = await deploy(start="latest")
    (topic,) = deployment.inputs
    await deployment.ask("before")
    async with deployment.running() as slot:
        await caught_up(slot)
        assert await deployment.stored(topic) == {0: 1}
    await deployment.ask("between")
    async with deployment.running() as slot:
        await stored(deployment, topic, {0: 2})
    assert await deployment.asked() == ["between"]


async def test_an_instant_is_resolved_once(deploy: Deploy) -> None:
    """Reading starts at the first record of that time or later; another setting changes nothing."""
    deployment = await deploy()
    (topic,) = deployment.inputs
    await deployment.ask("before")
    await asyncio.sleep(0.05)
    instant = round(time.time() * 1_000)
    await asyncio.sleep(0.05)
    await deployment.ask("after")
    async with deployment.starting(instant).running():
        await stored(deployment, topic, {0: 2})
    async with deployment.starting("earliest").running() as slot:
        await caught_up(slot)
        assert await deployment.stored(topic) == {0: 2}
    assert await deployment.asked() == ["after"]


async def test_an_instant_yet_to_come_starts_at_the_end(deploy: Deploy) -> None:
    """There is no record of it: what comes from now on is read, and nothing before."""
    deployment = await deploy(start=round(time.time() * 1_000) + 3_600_000)
    (topic,) = deployment.inputs
    await deployment.ask("before")
    async with deployment.running() as slot:
        await caught_up(slot)
        await deployment.ask("after")
        await stored(deployment, topic, {0: 2})
    assert await deployment.asked() == ["after"]
