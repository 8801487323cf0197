"""The input partitions of one slot: which they are, where reading starts, and the records.

Positions belong to the slot and come from its state partition; the consumer has no group. A
position that the broker no longer holds stops the slot: going on anywhere else would be silent.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import OffsetOutOfRangeError
from aiokafka.structs import ConsumerRecord, TopicPartition

from bridge.errors import PositionLost
from bridge.kafka.clients import ClientSettings, make_consumer, start_consumer, stop_consumer

StartFrom = Literal["earliest", "latest"] | int
"""An end of the log, or an instant in milliseconds since the epoch."""

Positions = dict[TopicPartition, int]

PartitionsFor = Callable[[str], Awaitable[Collection[int]]]
"""The partitions of a topic, after a look at the cluster if need be. Raises TopicsWrong."""

_REFRESH_S: Final = 30.0  # how often new partitions and vanished topics are looked for


@dataclass(frozen=True, slots=True)
class Seen:
    """What is stored of an input topic: the next offsets, and how many partitions it had."""

    positions: Mapping[TopicPartition, int]
    partitions: Mapping[str, int]


class Intake:
    """Reads the input partitions q of a slot: those with q mod slots == slot."""

    def __init__(
        self, client: ClientSettings, topics: Mapping[str, StartFrom], slot: int, slots: int
    ) -> None:
        """`topics` says for each input topic where its first start reads from."""
        self._consumer: AIOKafkaConsumer = make_consumer(client)
        self._topics = topics
        self._slot = slot
        self._slots = slots
        self._refreshed = time.monotonic()
        self._partitions_for: PartitionsFor | None = None
        self.positions: Positions = {}
        self.partitions: dict[str, int] = {}

    async def open(self, seen: Seen, partitions_for: PartitionsFor) -> None:
        """Find the partitions, resolve where each starts, and seek. Raises TopicsWrong."""
        self._partitions_for = partitions_for
        await start_consumer(self._consumer)
        self.partitions = await self._count_partitions()
        owned = self._owned()
        self.positions = {tp: seen.positions[tp] for tp in owned if tp in seen.positions}
        fresh = [tp for tp in owned if tp not in self.positions]
        self.positions |= await self._resolve(fresh, seen.partitions)
        self._assign()

    async def poll(self, timeout_ms: int, most: int) -> Sequence[ConsumerRecord]:
        """The next records of any partition, in order within each. Raises PositionLost."""
        try:
            # R17: never cancelled; the time-out is the client's own
            polled = await self._consumer.getmany(timeout_ms=timeout_ms, max_records=most)
        except OffsetOutOfRangeError as error:
            raise self._position_lost(error) from error
        for tp, records in polled.items():
            self.positions[tp] = records[-1].offset + 1
        return [record for records in polled.values() for record in records]

    async def refresh(self) -> bool:
        """Now and then: take in partitions that have appeared. True where there were new ones.

        Raises TopicsWrong when a topic has vanished (R15: the client itself says nothing).
        """
        if time.monotonic() - self._refreshed < _REFRESH_S:
            return False
        self._refreshed = time.monotonic()
        counts = await self._count_partitions()
        if counts == self.partitions:
            return False
        known, self.partitions = self.partitions, counts
        fresh = [tp for tp in self._owned() if tp not in self.positions]
        self.positions |= await self._resolve(fresh, known)
        self._assign()
        return True

    async def end_offsets(self) -> Positions:
        """The last stable offsets of the partitions, as far as a reader here could come now."""
        ends: Positions = await self._consumer.end_offsets(list(self.positions))
        return ends

    def lag(self) -> dict[str, int]:
        """Offsets by topic between the positions and the last stable offsets of the last fetch."""
        behind: Counter[str] = Counter()
        for tp, position in self.positions.items():
            stable = self._consumer.last_stable_offset(tp)
            behind[tp.topic] += max(0, (stable or 0) - position)
        return behind

    async def reached(self, ends: Mapping[TopicPartition, int]) -> bool:
        """Whether everything up to these ends was read; markers have offsets but no record."""
        for tp, end in ends.items():
            if self.positions[tp] < end and await self._consumer.position(tp) < end:
                return False
        return True

    async def close(self) -> None:
        await stop_consumer(self._consumer)

    def _owned(self) -> list[TopicPartition]:
        return [
            TopicPartition(topic, q)
            for topic, count in self.partitions.items()
            for q in range(self._slot, count, self._slots)
        ]

    def _assign(self) -> None:
        self._consumer.assign(list(self.positions))
        for tp, offset in self.positions.items():
            self._consumer.seek(tp, offset)

    async def _count_partitions(self) -> dict[str, int]:
        assert self._partitions_for is not None
        return {topic: len(await self._partitions_for(topic)) for topic in self._topics}

    async def _resolve(
        self, fresh: Sequence[TopicPartition], known: Mapping[str, int]
    ) -> Positions:
        """Where partitions without a position start: later ones at their beginning."""
        beginnings = await self._consumer.beginning_offsets(list(fresh)) if fresh else {}
        resolved: Positions = {}
        for tp in fresh:
            start = self._topics[tp.topic]
            if tp.topic in known or start == "earliest":
                resolved[tp] = beginnings[tp]
            else:
                resolved[tp] = await self._start_offset(tp, start)
        return resolved

    async def _start_offset(self, tp: TopicPartition, start: StartFrom) -> int:
        if isinstance(start, int):
            found = (await self._consumer.offsets_for_times({tp: start}))[tp]
            if found is not None:
                return int(found.offset)
        ends: Positions = await self._consumer.end_offsets([tp])
        return ends[tp]

    def _position_lost(self, error: OffsetOutOfRangeError) -> PositionLost:
        lost = ", ".join(
            f"{tp.topic}/{tp.partition} at {offset}" for tp, offset in error.args[0].items()
        )
        return PositionLost(
            f"The stored position is not retained any more: {lost}. Records may be lost; decide "
            f"with: interrupt-bridge positions skip --slot {self._slot}"
        )
