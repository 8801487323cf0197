"""Probes on a broker: each slot that is served answers for itself, and no other does for it."""

from __future__ import annotations

import json
from typing import Any

from bridge.kafka.post import post
from bridge.kafka.reader import snapshot
from tests.integration.kafka.deployment import Deploy, Deployment, caught_up, eventually


async def ask(deployment: Deployment, slot: int, partition: int) -> str:
    value = json.dumps({"op": "probe", "slot": slot}).encode()
    topic = deployment.topics["operations"]
    return str(await post(deployment.client, topic, b"", value, partition))


async def verdicts(deployment: Deployment) -> list[dict[str, Any]]:
    found = await snapshot(deployment.client, deployment.topics["answer-verdicts"])
    return [{**json.loads(each.value or b""), "at": each.origin.partition} for each in found]


async def test_each_slot_answers_for_itself(deploy: Deploy) -> None:
    """From its own partition, and over one hop from another; the slot nobody serves is silent."""
    deployment = await deploy(3)
    async with deployment.running(0) as first, deployment.running(1) as second:
        await caught_up(first)
        await caught_up(second)
        asked = {
            await ask(deployment, 0, partition=0): 0,
            await ask(deployment, 1, partition=0): 1,
            await ask(deployment, 0, partition=1): 0,
        }
        silent = [await ask(deployment, 2, partition=partition) for partition in (0, 2)]
        await eventually(lambda: verdicts(deployment), lambda found: len(found) == 3)
    found = await verdicts(deployment)
    assert {each["answer_id"]: each["at"] for each in found} == asked
    assert {each["verdict"] for each in found} == {"probed"}
    async with deployment.running(2) as third:
        await caught_up(third)
        await eventually(lambda: verdicts(deployment), lambda found: len(found) == 5)
    assert {each["answer_id"] for each in await verdicts(deployment)} == {*asked, *silent}
