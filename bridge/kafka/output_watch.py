"""Finds what brokers leave open of a slot's committed transactions while it goes on serving.

A producer that outlives an outage has no fence to make it look (see `verdict`). Its readers stand
still in a partition until its next commit there, which on a quiet topic may be days.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import Final

from aiokafka.structs import TopicPartition

from bridge.kafka.restore import StateUnsettled
from bridge.kafka.standstill import Standstill
from bridge.kafka.transaction import SlotProducer
from bridge.kafka.verdict import OpenTransaction

_EVERY_S: Final = 5.0
_AGAIN_S: Final = 1.0  # markers are written after a commit is answered, within milliseconds
_WITHIN_S: Final = 2.0


class OutputWatch:
    """Of one producer. For use between its transactions only."""

    def __init__(self, producer: SlotProducer) -> None:
        self._producer = producer
        self._standstill = Standstill()
        self._next_at = 0.0

    async def stuck(self) -> list[TopicPartition]:
        """Partitions that wait for the end of a transaction that has committed.

        Most calls look at the clock alone. Raises StateUnsettled for what a former owner left.
        """
        if time.monotonic() < self._next_at:
            return []
        self._next_at = time.monotonic() + _EVERY_S
        try:
            async with asyncio.timeout(_WITHIN_S):
                inquiry = self._producer.inquiry
                ends = await inquiry.ends(await self._producer.own_partitions())
                now = time.monotonic()
                for tp, end in ends.items():
                    self._standstill.look(tp, end.stable, end.high, now)
                if any(end.behind for end in ends.values()):
                    self._next_at = now + _AGAIN_S
                suspects = self._standstill.longer_than(_AGAIN_S / 2, now)
                found = await inquiry.open_transactions(suspects) if suspects else {}
                return [tp for tp, open_ in found.items() if self._is_ours(tp, open_)]
        except TimeoutError:
            return []  # nobody answers: what is under way tells so itself

    def blocked(self) -> dict[str, float]:
        """Seconds by topic for which readers have stood still in a partition of it."""
        return self._standstill.by_topic(time.monotonic())

    def _is_ours(self, tp: TopicPartition, found: Iterable[OpenTransaction] | None) -> bool:
        if found is None:  # without READ nobody tells, and of the outputs there is one writer
            return bool(tp.topic != self._producer.shared_topic)
        mine, epoch = self._producer.identity
        ours = [each for each in found if each.producer_id == mine]
        if any(each.epoch < epoch for each in ours):
            raise StateUnsettled(
                f"{tp.topic}/{tp.partition} has an open transaction of a former owner of the slot. "
                "It is opened again, to give it the end that it was decided to have."
            )
        return any(each.epoch == epoch for each in ours)
