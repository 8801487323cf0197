"""The input partitions of one slot: which they are, where reading starts, and the records.

Positions belong to the slot and come from its state partition; the consumer has no group. A
position that the broker no longer holds stops the slot: going on anywhere else would be silent.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import OffsetOutOfRangeError
from aiokafka.structs import ConsumerRecord, TopicPartition

from bridge.errors import PositionLost, RecordUnreadable, TopicsWrong, skip_command
from bridge.kafka.clients import ClientSettings, kill, make_consumer, start_consumer
from bridge.kafka.standstill import Standstill

StartFrom = Literal["earliest", "latest"] | int
"""An end of the log, or an instant in milliseconds since the epoch."""

Positions = dict[TopicPartition, int]

CountPartitions = Callable[[Iterable[str]], Awaitable[Mapping[str, int]]]
"""How many partitions topics have, after a look at the cluster. Raises TopicsWrong."""

REFRESH_S: Final = 30.0  # how often new partitions and vanished topics are looked for


@dataclass(frozen=True, slots=True)
class Seen:
    """What is stored of an input topic: the next offsets, and how many partitions it had."""

    positions: Mapping[TopicPartition, int]
    partitions: Mapping[str, int]


class Intake:
    """Reads the input partitions q of a slot: those with q mod slots == slot."""

    def __init__(
        self,
        client: ClientSettings,
        topics: Mapping[str, StartFrom],
        slot: int,
        slots: int,
        refresh_every: float = REFRESH_S,
        waiting: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        """`topics` says for each input topic where its first start reads from; `refresh_every`:
        seconds between two looks at the cluster's topics; `waiting`: those not to be read now.
        """
        self._consumer: AIOKafkaConsumer = make_consumer(client)
        self._topics = topics
        self._slot = slot
        self._slots = slots
        self._refresh_every = refresh_every
        self._refreshed = self._heard_at = time.monotonic()
        self._answered = 0
        self._standstill = Standstill()
        self._count: CountPartitions | None = None
        self._waiting = waiting
        self.paused: frozenset[str] = frozenset()  # topics that are not read now
        self.positions: Positions = {}
        self.partitions: dict[str, int] = {}

    async def open(self, seen: Seen, count: CountPartitions) -> None:
        """Find the partitions, resolve where each starts, and seek.

        Raises TopicsWrong, and PositionLost before anything is written or read.
        """
        self._count = count
        await start_consumer(self._consumer)
        self.partitions = await self._count_partitions()
        stored = {tp: at for tp, at in seen.positions.items() if tp.topic in self._topics}
        await self._refuse_lost(stored)
        fresh = [tp for tp in self._owned() if tp not in stored]
        self.positions = stored | await self._resolve(fresh, seen.partitions)
        self._assign()

    async def poll(self, timeout_ms: int, most: int) -> Sequence[ConsumerRecord]:
        """The next records of any partition, in order within each.

        Raises PositionLost, and RecordUnreadable once all that was before such a record is read.
        """
        self._pause()
        try:
            # R17: never cancelled; the time-out is the client's own
            polled = await self._consumer.getmany(timeout_ms=timeout_ms, max_records=most)
        except OffsetOutOfRangeError as error:
            raise self._position_lost(error.args[0]) from error
        except RecordUnreadable as error:
            command = skip_command(self._slot, error.topic, error.partition, error.behind)
            remedy = f"Find out who wrote it, then go on behind its batch: {command}"
            where = (error.topic, error.partition, error.offset, error.behind)
            raise RecordUnreadable(*where, error.cause, remedy) from error
        for tp, records in polled.items():
            self.positions[tp] = records[-1].offset + 1
        # The client's stamps are of the wall clock, so only that they change is of use.
        stamps = (self._consumer.last_poll_timestamp(tp) or 0 for tp in self.positions)
        if (answered := max(stamps, default=0)) != self._answered:
            self._answered, self._heard_at = answered, time.monotonic()
        await self._pass_markers()
        return [record for records in polled.values() for record in records]

    @property
    def unheard(self) -> float:
        """Seconds since a broker last answered a fetch; with nothing new it still does at once."""
        return time.monotonic() - self._heard_at

    async def refresh(self) -> bool:
        """Now and then: take in partitions that have appeared. True where there were new ones.

        Raises TopicsWrong when a topic has vanished (R15: the client itself says nothing).
        """
        if time.monotonic() - self._refreshed < self._refresh_every:
            return False
        counts = await self._count_partitions()
        self._refreshed = time.monotonic()
        if counts == self.partitions:
            return False
        for topic, count in counts.items():
            if count < self.partitions[topic]:
                raise TopicsWrong(
                    f"The topic {topic} had {self.partitions[topic]} partitions and has {count}: "
                    "it was deleted and made anew. What was not read is lost."
                )
        known, self.partitions = self.partitions, counts
        fresh = [tp for tp in self._owned() if tp not in self.positions]
        self.positions |= await self._resolve(fresh, known)
        self._assign()
        return True

    async def end_offsets(self) -> Positions:
        """The last stable offsets of the partitions, as far as a reader here could come now."""
        ends: Positions = await self._consumer.end_offsets(list(self.positions))
        return ends

    async def end_of(self, tp: TopicPartition) -> int:
        """The last stable offset of any partition."""
        ends: Positions = await self._consumer.end_offsets([tp])
        return ends[tp]

    def lag(self) -> dict[str, int]:
        """Offsets by topic between the positions and the ends of the logs at the last fetch.

        From memory. Markers on the way count, for nobody can tell before they are read; so does
        what waits behind an open transaction, which nobody can read.
        """
        behind: Counter[str] = Counter()
        for tp in self._consumer.assignment():
            behind[tp.topic] += max(0, self._high(tp) - self.positions[tp])
        return behind

    def blocked(self) -> dict[str, float]:
        """Seconds by topic for which an open transaction has left what lies behind it unread."""
        topics = {tp.topic: 0.0 for tp in self.positions}
        return topics | self._standstill.by_topic(time.monotonic())

    async def close(self) -> None:
        """At once: without a group nobody waits, and an answer to a fetch is of no use now."""
        await kill(self._consumer)

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

        self.paused = frozenset()

    def _pause(self) -> None:
        """Keep the consumer from topics that wait; their positions stay where they are."""
        waiting = self._waiting()
        for tp in self.positions if waiting != self.paused else ():
            if tp.topic in waiting:
                self._consumer.pause(tp)
            else:
                self._consumer.resume(tp)
        self.paused = waiting

    async def _pass_markers(self) -> None:
        """Take positions past markers and aborted records, which have offsets but no record.

        The consumer knows where it stands, so this asks nobody. A position before the marker that
        ends a quiet topic would show a lag for ever, and be lost once retention empties the log.
        """
        now = time.monotonic()
        for tp, position in self.positions.items():
            stable = self._consumer.last_stable_offset(tp) or 0  # 0 before the first fetch
            self._standstill.look(tp, stable, self._high(tp), now)
            if stable > position:
                self.positions[tp] = await self._consumer.position(tp)

    def _high(self, tp: TopicPartition) -> int:
        """The high watermark that a fetch has reported, 0 before the first."""
        return self._consumer.highwater(tp) or 0

    async def _count_partitions(self) -> dict[str, int]:
        assert self._count is not None
        return dict(await self._count(self._topics))

    async def _refuse_lost(self, stored: Positions) -> None:
        """Raises PositionLost for positions that no fetch could go on from."""
        there = [tp for tp in self._owned() if tp in stored]
        if not stored:
            return
        begins: Positions = await self._consumer.beginning_offsets(there)
        ends: Positions = await self._consumer.end_offsets(there)
        lost = {
            tp: at
            for tp, at in stored.items()
            if tp not in begins or not begins[tp] <= at <= ends[tp]
        }
        if lost:
            raise self._position_lost(lost)

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

    def _position_lost(self, lost: Mapping[TopicPartition, int]) -> PositionLost:
        where = ", ".join(f"{tp.topic}/{tp.partition} at {at}" for tp, at in sorted(lost.items()))
        return PositionLost(
            f"The stored position is not retained any more: {where}. Records may be lost. See what "
            "there is: interrupt-bridge positions show; then go on where the log begins: "
            f"interrupt-bridge positions skip --slot {self._slot} --to earliest --yes"
        )
