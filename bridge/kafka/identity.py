"""Keeps a slot to the state of its own deployment, and notices where that state was lost.

A state topic that was made anew is never taken for a fresh start: it stands beside outputs that
are not empty, or its offsets are below those that the slot has seen.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import TopicAuthorizationFailedError
from aiokafka.structs import TopicPartition

from bridge.errors import DeploymentMismatch, StateLost
from bridge.kafka.clients import (
    RESTORE_CONSUMER,
    ClientSettings,
    make_consumer,
    start_consumer,
    stop_consumer,
)
from bridge.kafka.transaction import SlotProducer
from bridge.records.outgoing import Outgoing
from bridge.records.topics import OUTPUTS, Topics
from bridge.slot.birth import ADOPT, Birth, encode, key_of, mismatch

_POLL_MS: Final = 100
_MARK: Final = b"__bridge/slot-"
_SCAN_S: Final = 30.0


@dataclass(slots=True)
class Remembered:
    """What a slot knows of its state partition from one tenure to the next."""

    claim: str | None = None
    end: int = 0

    def note(self, state: TopicPartition, end: int) -> None:
        """The partition ends there, or no record of ours would. Raises StateLost."""
        if end < self.end:
            raise _lost(
                state,
                f"it ended at {self.end} and ends at {end}: the topic was deleted and made anew",
            )
        self.end = end

    def restored(self, state: TopicPartition, birth: Birth, end: int) -> None:
        """Compare with the tenure before, unless people have said since that it begins anew."""
        if birth.claim != self.claim:
            self.claim, self.end = birth.claim, 0
        self.note(state, end)


def new_birth(deployment: str, app_id: str, slots: int, topics: Topics) -> Birth:
    """A birth that no other record equals; without a deployment's id one of its own."""
    return Birth(
        deployment=deployment or uuid.uuid4().hex,
        app_id=app_id,
        slots=slots,
        reroute=topics["reroute"],
        claim=uuid.uuid4().hex,
    )


async def claim(
    client: ClientSettings, producer: SlotProducer, topics: Topics, slot: int, new: Birth
) -> None:
    """Write the first record of a partition's life, for the caller to read back.

    Raises StateLost where the slot has written before: it has lived, and its state is gone.
    """
    outputs = [TopicPartition(topics[role], slot) for role in OUTPUTS]
    written = await first_written(client, topics["approvals"], outputs)
    if written is not None:
        where = f"{written.topic}/{written.partition}"
        raise _lost(
            TopicPartition(topics["state"], slot),
            f"it is empty and {where} is not: the topic was deleted, or has another name",
        )
    await producer.commit([Outgoing("state", key_of(new.app_id), encode(new))])


def check(birth: Birth, state: TopicPartition, app_id: str, slots: int, reroute: str) -> None:
    """Raises DeploymentMismatch where the partition is another deployment's."""
    problem = mismatch(birth, app_id, slots, reroute)
    if problem is not None:
        raise DeploymentMismatch(f"The state {state.topic}/{state.partition}: {problem}.")


async def first_written(
    client: ClientSettings, approvals: str, outputs: Sequence[TopicPartition]
) -> TopicPartition | None:
    """An output partition that its slot has written to, if there is one.

    Marks that tools leave in `approvals` do not count, where this principal may read it.
    """
    consumer = make_consumer(client, RESTORE_CONSUMER)
    await start_consumer(consumer)
    try:
        ends = await consumer.end_offsets(list(outputs))
        begins = await consumer.beginning_offsets(list(outputs))
        written = [at for at in outputs if ends[at] > 0]
        for at in written:
            if at.topic != approvals or begins[at] > 0:
                return at
            if await _has_more_than_marks(consumer, at, ends[at]):
                return at
    finally:
        await stop_consumer(consumer)
    return None


async def _has_more_than_marks(consumer: AIOKafkaConsumer, at: TopicPartition, end: int) -> bool:
    consumer.assign([at])
    consumer.seek(at, 0)
    try:
        async with asyncio.timeout(_SCAN_S):
            while await consumer.position(at) < end:
                polled = await consumer.getmany(at, timeout_ms=_POLL_MS)
                keys = [record.key or b"" for record in polled.get(at, ())]
                if any(key.startswith(_MARK) or not key.startswith(b"__") for key in keys):
                    return True
    except (TopicAuthorizationFailedError, TimeoutError):
        return True  # nobody says that these are marks only
    return False


def _lost(state: TopicPartition, how: str) -> StateLost:
    return StateLost(
        f"The state of slot {state.partition} is lost: {state.topic}/{state.partition}, {how}. "
        "Bring the old topic back. To go on without what it knew, say from where the inputs are "
        f"to be read: {ADOPT} --inputs latest"
    )
