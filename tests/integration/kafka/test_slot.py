"""How a slot goes on after its tenures end."""

from __future__ import annotations

import itertools

import pytest

from bridge.errors import TopicNotStamped
from tests.integration.kafka.deployment import Deploy, caught_up, until

TOMBSTONE_FITS = "150"  # bytes; a question does not


async def test_a_tenure_that_opens_and_fails_comes_back_later_each_time(
    deploy: Deploy, caplog: pytest.LogCaptureFixture
) -> None:
    """To have opened is no success: what ends every tenure must not turn the slot in circles."""
    deployment = await deploy()
    deployment.set_topic(deployment.topics["approvals"], "max.message.bytes", TOMBSTONE_FITS)
    await deployment.ask("too-large")

    def at(message: str) -> list[float]:
        return [each.created for each in caplog.records if each.message.startswith(message)]

    caplog.set_level("INFO", "bridge.kafka.slot")
    async with deployment.running():
        await until(lambda: len(at("slot opens again")) == 5)
    assert len(at("slot opened")) == 5
    pauses = [later - former for former, later in itertools.pairwise(at("slot opens again"))]
    assert all(pause >= least for pause, least in zip(pauses, (0.2, 0.5, 1, 2), strict=True))


async def test_a_slot_that_nobody_tells_the_time_decides_nothing(deploy: Deploy) -> None:
    """Where it may not read settings it starts on a wrong topic, and would date all by 1970."""
    deployment = await deploy()
    stamped = deployment.topics["state"], "message.timestamp.type"
    deployment.set_topic(*stamped, "CreateTime")
    await deployment.ask("thread-1")
    async with deployment.running() as slot:
        await until(lambda: slot.state == "stopped")
        assert isinstance(slot.error, TopicNotStamped)
        assert slot.figures().clock_skew is None
        assert await deployment.asked() == []
        deployment.set_topic(*stamped, "LogAppendTime")
        await caught_up(slot)
        assert await deployment.asked() == ["thread-1"]
