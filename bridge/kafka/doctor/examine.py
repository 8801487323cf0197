"""The whole look, in its order: what the rest stands on first, the slots themselves last."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from bridge.config import Config
from bridge.kafka.adoption import Deployment
from bridge.kafka.doctor.approvals import look_at_approvals
from bridge.kafka.doctor.check import Check, tried
from bridge.kafka.doctor.cluster import look_at_cluster, versions
from bridge.kafka.doctor.hanging import look_at_own_topics
from bridge.kafka.doctor.members import look_at_members
from bridge.kafka.doctor.positions import look_at_positions
from bridge.kafka.doctor.probes import look_at_slots
from bridge.kafka.doctor.rights import look_at_rights
from bridge.kafka.doctor.state import look_at_state
from bridge.kafka.doctor.transaction import look_at_transaction
from bridge.kafka.group import Group
from bridge.kafka.positions import Inputs
from bridge.kafka.topic_admin import check
from bridge.kafka.topics import Wanted

Tell = Callable[[str], None]
"""Hears what is going on where that takes a while."""


async def examine(
    config: Config, wanted: Wanted, inputs: Inputs, tell: Tell
) -> AsyncIterator[Check]:
    """Check after check; what depends on one that failed is left out. Raises ConfigError."""
    client = config.kafka.client_kwargs()
    yield versions()
    reached = await tried("cluster", look_at_cluster(client, config.worker))
    for found in reached:
        yield found
    if reached[0].grade == "fail":
        return
    tell("rights and topics")
    rights = await tried("rights", look_at_rights(client, config))
    topics = await tried("topics", _look_at_topics(config, wanted, rights))
    for found in (*rights, *topics):
        yield found
    if any(found.grade == "fail" for found in topics):
        left_out = "not probed, nor who works on them, while the topics are wrong"
        yield Check("fail", "slots", left_out, "mend them, and look again")
        return
    writes = all(found.grade == "ok" for found in rights)
    async for found in _at_work(config, inputs, tell, writes=writes):
        yield found


async def _look_at_topics(config: Config, wanted: Wanted, rights: list[Check]) -> list[Check]:
    findings = await check(config.kafka.client_kwargs(), wanted)
    advised = {found.advice for found in rights if found.advice}
    checks = [
        Check("fail" if finding.refuses else "warn", "topics", str(finding))
        for finding in findings
        if not any(advice in str(finding) for advice in advised)
    ]
    return checks if findings else [Check("ok", "topics", "as a worker needs them")]


async def _at_work(
    config: Config, inputs: Inputs, tell: Tell, *, writes: bool
) -> AsyncIterator[Check]:
    """What can be seen only where there are topics; without `writes` nothing is half-written."""
    client, topics = config.kafka.client_kwargs(), inputs.topics
    groups: list[Group] = []
    deployment = Deployment(client, config.app_id, topics, inputs.slots, inputs.names)
    looks: list[tuple[str, str, Coroutine[Any, Any, list[Check]]]] = [
        ("the workers' group", "workers", look_at_members(config, inputs, groups.append)),
        ("whose the state is", "state", look_at_state(deployment)),
        ("approvals", "approvals", look_at_approvals(client, topics)),
        ("positions", "positions", look_at_positions(client, inputs)),
        ("open transactions", "open transactions", look_at_own_topics(client, inputs)),
    ]
    if writes:
        commit = look_at_transaction(client, config.app_id, topics)
        looks.insert(2, ("a transaction", "transaction", commit))
    for doing, subject, looking in looks:
        tell(doing)
        for found in await tried(subject, looking):
            yield found
    if not writes:
        left_out = "not probed, and no transaction tried, while rights are missing"
        yield Check("fail", "slots", left_out, "grant them")
        return
    tell(f"{inputs.slots} slots, each of which has 5 s to answer a probe")
    for found in await tried("slots", look_at_slots(client, inputs, next(iter(groups), None))):
        yield found
