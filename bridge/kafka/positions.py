"""Stored input positions as an operator sees them, and moves them where a slot cannot go on.

Whoever moves one takes the slot for a moment, as a worker would: fence, restore, write, close. A
worker that had the slot notices by its fenced producer and opens it again, at the new position.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from aiokafka.structs import ConsumerRecord, TopicPartition

from bridge.errors import ClusterError, ConfigError, TransactionError
from bridge.kafka.clients import (
    START_DEADLINE,
    ClientSettings,
    make_consumer,
    start_consumer,
    stop_consumer,
)
from bridge.kafka.identity import check
from bridge.kafka.inquiry import inquiring
from bridge.kafka.leftovers import settle
from bridge.kafka.names import transactional_id
from bridge.kafka.reader import partition_counts, reading
from bridge.kafka.restore import restore
from bridge.kafka.setup import takeover_marks
from bridge.kafka.transaction import SlotProducer, persistently
from bridge.kafka.verdict import OpenTransaction
from bridge.records.outgoing import Outgoing
from bridge.records.topics import Topics
from bridge.slot import state_codec as codec
from bridge.slot.birth import Births

Target = Literal["earliest", "latest"] | int
"""Where a position is moved to: an end of the log, or an offset."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One input partition: the offset its slot reads next, and what the log holds now."""

    slot: int
    topic: str
    partition: int
    position: int | None  # None: no slot has started there
    begin: int | None  # None: the partition is not there any more
    end: int | None  # the last stable offset
    high: int | None = None  # where the next record will stand; behind `end` nobody can read
    blocked_by: OpenTransaction | None = None  # the oldest one that holds `end` back

    @property
    def lost(self) -> bool:
        """Whether no fetch could go on from the stored position."""
        if self.position is None:
            return False
        if self.begin is None or self.end is None:
            return True
        return not self.begin <= self.position <= self.end

    @property
    def lag(self) -> int | None:
        """Offsets still to be read; None where nothing is stored or nothing is there.

        What waits behind an open transaction counts.
        """
        if self.position is None or self.begin is None or self.end is None:
            return None
        return max(0, max(self.end, self.high or 0) - max(self.begin, self.position))

    def target(self, to: Target) -> int | None:
        """Where `to` stands; None where nothing is there. Raises ConfigError for no place in it."""
        if self.begin is None or self.end is None:
            return None
        if not isinstance(to, int):
            return self.begin if to == "earliest" else self.end
        if not self.begin <= to <= self.end:
            held = f"{self.topic}/{self.partition} holds {self.begin} to {self.end}"
            raise ConfigError(f"--to: {held}, not {to}")
        return to


@dataclass(frozen=True, slots=True)
class Move:
    """A position that is to change; to None is to be forgotten, with its partition."""

    standing: Standing
    to: int | None

    def __str__(self) -> str:
        at = self.standing
        place = f"slot {at.slot}, {at.topic}/{at.partition}: {at.position} → "
        if self.to is None or at.begin is None:
            return place + "forgotten, the partition is not there any more"
        if at.position is None:
            return place + f"{self.to}"
        if self.to < at.position:
            return place + f"{self.to}, reads up to {at.position - self.to} records again"
        there = max(0, self.to - max(at.begin, at.position))
        skipped = self.to - at.position
        return place + f"{self.to}, skips up to {skipped} records, {there} of them still there"

    def record(self) -> Outgoing:
        """What makes it so in the state."""
        key = codec.position_key(self.standing.topic, self.standing.partition)
        return Outgoing("state", key, None if self.to is None else codec.encode_position(self.to))


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the settings say: topic names of the bridge by role, all input topics, the slots."""

    topics: Topics
    names: Sequence[str]
    slots: int


Stored = dict[tuple[int, TopicPartition], int]
"""Positions by slot and input partition."""


async def standings(client: ClientSettings, inputs: Inputs) -> list[Standing]:
    """Every input partition as any reader finds it stored, in order of slots.

    Raises TopicsWrong when a topic is missing, Unreachable or NotAuthorized.
    """
    stored: Stored = {}
    async with reading(client, inputs.topics["state"]) as reader:
        async for record in reader.to_end():
            _fold(stored, record.origin.partition, record.key, record.value)
    return await _compared(client, inputs, stored, range(inputs.slots))


def choose(
    found: Iterable[Standing], slot: int, to: Target, topic: str | None, partition: int | None
) -> list[Move]:
    """The moves of a slot: of the named topic or partition, or else of all that is lost.

    Raises ConfigError for what cannot be meant.
    """
    mine = [at for at in found if at.slot == slot]
    chosen = [
        at
        for at in mine
        if (at.lost if topic is None else at.topic == topic)
        and (partition is None or at.partition == partition)
    ]
    if topic is not None and not chosen:
        where = f"{topic}/{partition}" if partition is not None else topic
        raise ConfigError(f"--topic: slot {slot} does not read {where}; see positions show")
    if isinstance(to, int) and (partition is None or topic is None):
        raise ConfigError("--to: an offset needs --topic and --partition")
    return [Move(at, at.target(to)) for at in chosen]


async def move(
    client: ClientSettings,
    app_id: str,
    inputs: Inputs,
    slot: int,
    chosen: Callable[[list[Standing]], list[Move]],
) -> list[Move]:
    """Take the slot, move what `chosen` makes of its standings, give it up; what was moved.

    Raises DeploymentMismatch where the slot is another deployment's, TransactionError when workers
    would not let go of it, and what opening a slot raises.
    """
    # It may have been written where the outcome is unknown: then nothing is left to move.
    return await persistently(
        partial(_move, client, app_id, inputs, slot, chosen), TransactionError
    )


async def _move(
    client: ClientSettings,
    app_id: str,
    inputs: Inputs,
    slot: int,
    chosen: Callable[[list[Standing]], list[Move]],
) -> list[Move]:
    name = transactional_id(app_id, inputs.topics["state"], slot)
    producer = SlotProducer(client, name, slot, inputs.topics)
    await producer.start()  # R1: from here on nobody else moves it
    try:
        await settle(producer)
        stored: Stored = {}
        births = Births()

        def fold(batch: Sequence[ConsumerRecord]) -> None:
            for record in batch:
                _fold(stored, slot, record.key, record.value)
                births.fold(record.key, record.value)

        await restore(client, inputs.topics["state"], slot, fold)
        if births.first is not None:
            state = TopicPartition(inputs.topics["state"], slot)
            check(births.first, state, app_id, inputs.slots, inputs.topics["reroute"])
        moves = chosen(await _compared(client, inputs, stored, [slot]))
        if moves:
            await producer.commit([*takeover_marks(slot), *(move.record() for move in moves)])
    finally:
        await producer.close()
    return moves


def _fold(stored: Stored, slot: int, key: bytes | None, value: bytes | None) -> None:
    if key is None or not key.startswith(codec.POSITION_PREFIX):
        return
    where = slot, TopicPartition(*codec.read_position_key(key))
    if value is None:
        stored.pop(where, None)
    else:
        stored[where] = codec.decode_position(value)


async def _compared(
    client: ClientSettings, inputs: Inputs, stored: Stored, slots: Iterable[int]
) -> list[Standing]:
    """What is stored beside what is there; partitions of either kind."""
    counts = await partition_counts(client, *inputs.names)
    there = [TopicPartition(name, q) for name, count in counts.items() for q in range(count)]
    consumer = make_consumer(client)
    await start_consumer(consumer)
    try:
        begins, ends = await consumer.beginning_offsets(there), await consumer.end_offsets(there)
    finally:
        await stop_consumer(consumer)
    highs, open_ = await _blocks(client, there)
    wanted = set(slots)
    places = {(tp.partition % inputs.slots, tp) for tp in there}
    places |= {(slot, tp) for slot, tp in stored if tp.topic in counts}
    return [
        Standing(
            slot,
            tp.topic,
            tp.partition,
            position=stored.get((slot, tp)),
            begin=begins.get(tp),
            end=ends.get(tp),
            high=highs.get(tp),
            blocked_by=open_.get(tp),
        )
        for slot, tp in sorted(places)
        if slot in wanted
    ]


async def _blocks(
    client: ClientSettings, there: Sequence[TopicPartition]
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, OpenTransaction]]:
    """High watermarks, and what holds readers back; unknown where the principal may not look."""
    async with inquiring(client) as inquiry:
        try:
            async with asyncio.timeout(START_DEADLINE):
                ends = await inquiry.ends(there)
                found = await inquiry.open_transactions([tp for tp in there if ends[tp].behind])
        except TimeoutError as error:
            raise ClusterError(
                f"No answer within {START_DEADLINE:g} s about the ends of the inputs: "
                "check that their partitions have leaders"
            ) from error
    oldest = {tp: min(each, key=lambda one: one.start) for tp, each in found.items() if each}
    return {tp: at.high for tp, at in ends.items()}, oldest
