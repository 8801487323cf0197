"""Whose the state partitions are, as tools see it, and the deliberate way to make them another's.

Whoever adopts a slot takes it for a moment by the transactional id that its birth names: a worker
of the deployment before is fenced, and finds out whose it is when it opens the slot again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from aiokafka.errors import TopicAuthorizationFailedError
from aiokafka.structs import ConsumerRecord, TopicPartition

from bridge.errors import ClusterError, ConfigError, DeploymentMismatch, Fenced, NotAuthorized
from bridge.kafka.clients import ClientSettings
from bridge.kafka.group import describe_group
from bridge.kafka.identity import first_written, new_birth
from bridge.kafka.intake import Intake, Seen, StartFrom
from bridge.kafka.leftovers import settle
from bridge.kafka.names import group_id, transactional_id
from bridge.kafka.pending import pending_approvals
from bridge.kafka.reader import reading
from bridge.kafka.restore import restore
from bridge.kafka.setup import takeover_marks
from bridge.kafka.topic_admin import connected
from bridge.kafka.transaction import SlotProducer, persistently
from bridge.records.outgoing import Outgoing
from bridge.records.topics import OUTPUTS, Topics
from bridge.slot import birth as births
from bridge.slot.birth import Birth, Births
from bridge.slot.engine import Engine
from bridge.slot.work import StateRecord

Condition = Literal["ours", "another's", "lost", "not begun"]

_READ_AGAIN: Final = "what is retained is read again: questions are put and commands issued anew"
_READ_NO_MORE: Final = "what stands before that is never read: open questions there stay open"


@dataclass(frozen=True, slots=True)
class Deployment:
    """What the settings say: app_id, the bridge's topics by role, the slots, all input topics."""

    client: ClientSettings
    app_id: str
    topics: Topics
    slots: int
    inputs: Sequence[str]


@dataclass(frozen=True, slots=True)
class Holding:
    """One state partition: its birth, and what that is to these settings; `problem` says more.

    `pending`: of a lost one, how many of its approvals wait for an answer; None: not known.
    """

    slot: int
    birth: Birth | None
    condition: Condition
    problem: str = ""
    pending: int | None = None


async def read_births(client: ClientSettings, state: str) -> list[Birth | None]:
    """The birth of each partition of a state topic. Raises TopicsWrong, Unreachable."""
    found: dict[int, Births] = {}
    async with reading(client, state) as reader:
        async for record in reader.to_end():
            mine = found.setdefault(record.origin.partition, Births())
            mine.fold(record.key, record.value)
        partitions = reader.partition_count
    return [found[p].first if p in found else None for p in range(partitions)]


async def holdings(deployment: Deployment) -> list[Holding]:
    """Every slot's state as these settings would find it."""
    topics = deployment.topics
    found = await read_births(deployment.client, topics["state"])
    held = [await _holding(deployment, slot, birth) for slot, birth in enumerate(found)]
    if all(each.condition != "lost" for each in held):
        return held
    try:
        pending = await pending_approvals(deployment.client, topics["approvals"])
    except (NotAuthorized, TopicAuthorizationFailedError):  # a worker needs no Read there
        return held
    return [
        replace(each, pending=len(pending.get(each.slot, ()))) if each.condition == "lost" else each
        for each in held
    ]


async def adopt(deployment: Deployment, start: StartFrom | None) -> list[Holding]:
    """Make every slot this deployment's; those that were not, as they were found.

    `start` says where the inputs of a slot are read from whose state is lost. Raises ConfigError
    without it, DeploymentMismatch for another number of slots, ClusterError while workers of the
    deployment before are in their group, and what opening a slot raises.
    """
    held = await holdings(deployment)
    found = [each for each in held if each.condition in ("another's", "lost")]
    refuse(deployment, found, start)
    for holder in sorted({each.birth.app_id for each in found if each.birth is not None}):
        await _refuse_workers(deployment, holder)
    known = Counter(each.birth.deployment for each in held if each.birth is not None)
    name = known.most_common(1)[0][0] if known else ""
    for each in found:
        # A slot that stands still may look again meanwhile: it finds nothing, and waits.
        await persistently(partial(_adopt, deployment, each, start, name), Fenced)
    return found


def refuse(deployment: Deployment, found: Sequence[Holding], start: StartFrom | None) -> None:
    """Raises for what `adopt` could not do."""
    for each in found:
        if each.birth is not None and each.birth.slots != deployment.slots:
            raise DeploymentMismatch(f"slot {each.slot}: {each.problem}.")
        if each.condition == "lost" and start is None:
            raise ConfigError(
                f"--inputs: the state of slot {each.slot} is lost, so say from where its inputs "
                f"are read: earliest, latest or an instant. From earliest {_READ_AGAIN}; from "
                f"latest {_READ_NO_MORE}."
            )


async def _holding(deployment: Deployment, slot: int, birth: Birth | None) -> Holding:
    topics = deployment.topics
    if birth is not None:
        problem = births.mismatch(birth, deployment.app_id, deployment.slots, topics["reroute"])
        return Holding(slot, birth, "another's" if problem else "ours", problem or "")
    outputs = [TopicPartition(topics[role], slot) for role in OUTPUTS]
    written = await first_written(deployment.client, topics["approvals"], outputs)
    if written is None:
        return Holding(slot, None, "not begun")
    beside = f"it is empty beside {written.topic}/{written.partition}"
    return Holding(slot, None, "lost", beside)


async def _refuse_workers(deployment: Deployment, app_id: str) -> None:
    name = group_id(app_id, deployment.topics["state"])
    async with connected(deployment.client) as admin:
        group = await describe_group(admin, name)
    if not group.settled:
        raise ClusterError(f"The group {name} has members and is {group.state}: look again soon.")
    if group.workers:
        who = ", ".join(each.declaration.worker for each in group.workers if each.declaration)
        raise ClusterError(f"Stop the workers of {name} first: {who}.")


async def _adopt(deployment: Deployment, each: Holding, start: StartFrom | None, name: str) -> None:
    topics, client, slot = deployment.topics, deployment.client, each.slot
    holder = deployment.app_id if each.birth is None else each.birth.app_id
    producer = SlotProducer(client, transactional_id(holder, topics["state"], slot), slot, topics)
    await producer.start()  # R1: whoever holds the slot is fenced, and looks before it goes on
    try:
        await settle(producer)
        standing = Births()

        def fold(batch: Sequence[ConsumerRecord]) -> None:
            for record in batch:
                standing.fold(record.key, record.value)

        await restore(client, topics["state"], slot, fold)
        if standing.first != each.birth:
            raise ClusterError(f"slot {slot}: somebody else adopts it. See: deployment show")
        new = new_birth(name, deployment.app_id, deployment.slots, topics)
        records = [*births.succession(standing, new)]
        if each.condition == "lost" and start is not None:
            records += await _positions(deployment, producer, slot, start)
        state = [Outgoing("state", key, value) for key, value in records]
        await producer.commit([*takeover_marks(slot), *state])
    finally:
        await producer.close()


async def _positions(
    deployment: Deployment, producer: SlotProducer, slot: int, start: StartFrom
) -> Sequence[StateRecord]:
    """State records that let a slot without any begin at `start`."""
    wanted = dict.fromkeys(deployment.inputs, start)
    intake = Intake(deployment.client, wanted, slot, deployment.slots)
    try:
        await intake.open(Seen({}, {}), producer.partition_counts)
        return Engine.takeover(intake.partitions, intake.positions).state
    finally:
        await intake.close()
