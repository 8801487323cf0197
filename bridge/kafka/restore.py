"""Reads one partition of the state topic from its start to the end that fencing has fixed.
It decodes nothing and keeps nothing: batches go to a callback, keys and values stay bytes.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from aiokafka import AIOKafkaConsumer
from aiokafka.structs import ConsumerRecord, TopicPartition

from bridge.errors import ClusterError
from bridge.kafka.clients import (
    RESTORE_CONSUMER,
    WATERMARK_CONSUMER,
    ClientSettings,
    make_consumer,
    start_consumer,
    stop_consumer,
)

OnBatch = Callable[[Sequence[ConsumerRecord]], None]
OnUnsettled = Callable[[int, int], None]

# Fencing settles the open transaction before it returns, and what the broker left open has been
# settled since. A difference between last stable offset and high watermark is somebody else's:
# wait for the broker's own clean-up, which takes the transaction timeout of 15 s and its sweep of
# 10 s, and some room.
UNSETTLED_DEADLINE: Final = 40.0

_POLL_MS: Final = 50
_BATCH_RECORDS: Final = 2_000  # what one turn of the event loop decodes: 3 ms, and the callback's


class StateUnsettled(ClusterError):
    """A transaction that is not the slot's own stays open in a partition that only it writes to."""

    code = "state_unsettled"


class RestoreStalled(ClusterError):
    """The state partition gave nothing for too long; says how far the restore had come."""

    code = "restore_stalled"


@dataclass(frozen=True, slots=True)
class Restored:
    """How far and how much was read; `high_watermark` is where the next record will stand."""

    high_watermark: int
    records: int
    seconds: float


def _ignore(_stable: int, _watermark: int) -> None:
    return None


async def restore(
    client: ClientSettings,
    topic: str,
    partition: int,
    on_batch: OnBatch,
    *,
    written: Sequence[TopicPartition] = (),
    on_unsettled: OnUnsettled = _ignore,
    stalled_after: float = 30.0,
) -> Restored:
    """Hand every committed record of the partition to `on_batch`, in order, as it is now.

    Call it only after the slot's producer has started: what is read before may still change.
    `written` are the other partitions that only this slot writes to; they have to be settled too,
    for its next commit there would publish what a lost transaction left behind.
    `on_unsettled(last stable offset, high watermark)` is called each time both differ (an alarm).
    Raises StateUnsettled, RestoreStalled (no progress for that many seconds), Unreachable,
    NotAuthorized, or what the client raises for a damaged log.
    """
    started = time.monotonic()
    target = TopicPartition(topic, partition)
    raw = make_consumer(client, WATERMARK_CONSUMER)
    committed = make_consumer(client, RESTORE_CONSUMER)
    try:
        await start_consumer(raw)
        await start_consumer(committed)
        watermarks = await raw.end_offsets([target, *written])
        await _settled(committed, watermarks, on_unsettled)
        watermark = watermarks[target]
        with _uncollected():
            records = await _read(committed, target, watermark, on_batch, stalled_after)
    finally:
        await asyncio.gather(stop_consumer(raw), stop_consumer(committed))
    return Restored(watermark, records, time.monotonic() - started)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the cyclic collector: records die by count, and it would cost a quarter of the rate.

    Whoever ends first of several turns it on again, which costs the others only speed.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


async def _settled(
    committed: AIOKafkaConsumer, watermarks: Mapping[TopicPartition, int], alarm: OnUnsettled
) -> None:
    deadline = time.monotonic() + UNSETTLED_DEADLINE
    while True:
        stable = await committed.end_offsets(list(watermarks))
        behind = next((tp for tp, mark in watermarks.items() if stable[tp] < mark), None)
        if behind is None:
            return
        alarm(stable[behind], watermarks[behind])
        if time.monotonic() > deadline:
            raise StateUnsettled(
                f"{behind.topic}/{behind.partition} has an open transaction at {stable[behind]}. "
                "It is not of this slot's producer id, which ends its own by what the coordinator "
                "decided: kafka-transactions.sh describe-producers tells whose it is. Who writes "
                "there besides this slot must not; once that is gone, the slot goes on by itself. "
                "kafka-transactions.sh abort is the wrong end for one that was committed, and on "
                "Kafka 4.3 and 4.4 most are: ask describe first (runbook lost-markers)."
            )
        await asyncio.sleep(_POLL_MS / 1000)


async def _read(
    committed: AIOKafkaConsumer,
    target: TopicPartition,
    watermark: int,
    on_batch: OnBatch,
    stalled_after: float,
) -> int:
    committed.assign([target])
    position = (await committed.beginning_offsets([target]))[target]
    committed.seek(target, position)
    records, moved = 0, time.monotonic()
    # R3: by position, because markers and compaction leave no record at the last offsets
    while position < watermark:
        polled = await committed.getmany(target, timeout_ms=_POLL_MS, max_records=_BATCH_RECORDS)
        batch = polled.get(target)
        if batch:
            on_batch(batch)
            records += len(batch)
            # What has been fetched is handed over without a wait; other slots want their turns
            await asyncio.sleep(0)
        before, position = position, await committed.position(target)
        if position > before:
            moved = time.monotonic()
        elif time.monotonic() - moved > stalled_after:
            raise RestoreStalled(
                f"{target.topic}/{target.partition} stands at {position} of {watermark} for "
                f"{stalled_after:g} s; check the partition's leader."
            )
    return records
