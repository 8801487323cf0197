"""The one place that touches private parts of aiokafka 0.14.0: hard kills, what its fetcher makes
of markers and bad records, its back-off, its log. Nothing here knows of slots; the pin in pyproject
holds.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import aiokafka
import aiokafka.producer.sender as aiokafka_sender
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.consumer import group_coordinator
from aiokafka.consumer.fetcher import PartitionRecords
from aiokafka.record.control_record import ABORT_MARKER, ControlRecord
from aiokafka.structs import ConsumerRecord, TopicPartition

from bridge.errors import BridgeError, RecordUnreadable

PINNED = "0.14.0"

# R12: Kafka answers CONCURRENT_TRANSACTIONS to AddPartitions until the markers of the transaction
# before are written, which takes 1-5 ms. The client's own 20 ms hold a slot at about 50
# transactions/s where that happens each time.
TRANSACTION_BACKOFF = 0.004

# The client adds record counts to a signed 32-bit sequence and wraps it to negative numbers, which
# the broker refuses. Half of the range leaves a day at 10,000 records/s to retire the producer in.
RETIRE_AT_SEQUENCE = 2**30


class UnsupportedClient(BridgeError):
    """The interpreter or the installed aiokafka is not one these patches were proved on."""

    code = "unsupported_client"


def prepare() -> None:
    """Check the interpreter and the pin, then apply every patch. Repeating it changes nothing."""
    require_supported(asserts_on=__debug__, version=aiokafka.__version__)
    PartitionRecords._contains_abort_marker = _contains_abort_marker
    PartitionRecords._unpack_records = _unpack_records
    aiokafka_sender.BACKOFF_OVERRIDE = TRANSACTION_BACKOFF
    aiokafka_sender.log.addFilter(_expected_retries)
    group_coordinator.log.addFilter(_rebalances)
    _reason_handler.attach()


def require_supported(*, asserts_on: bool, version: str) -> None:
    """Raise UnsupportedClient under `python -O` or with another aiokafka."""
    if not asserts_on:
        raise UnsupportedClient(
            "Run without -O and PYTHONOPTIMIZE: aiokafka keeps its transaction states with assert."
        )
    if version != PINNED:
        raise UnsupportedClient(f"Install aiokafka=={PINNED}; found {version}.")


# --- What the fetcher makes of markers ---------------------------------------------------------


def _contains_abort_marker(_records: PartitionRecords, batch: Any) -> bool:
    """R2: an empty control batch is no abort marker.

    The cleaner empties the last marker of a producer id after `delete.retention.ms`. The client's
    own check raises for it, at the same position, for ever; Java's consumer reads it as here.
    """
    record = next(batch, None)
    return record is not None and ControlRecord.parse(record.key) == ABORT_MARKER


# --- What the fetcher cannot decode ------------------------------------------------------------

_stock_unpack = PartitionRecords._unpack_records


def _unpack_records(records: PartitionRecords) -> Iterator[ConsumerRecord]:
    """The client's own raises whatever its decoder does, names no place, and so for ever.

    Here the records before the bad one are handed out first; the next fetch begins with the bad
    one, and raises RecordUnreadable.
    """
    start = records.next_fetch_offset
    try:
        yield from _stock_unpack(records)
    except Exception as error:
        at = records.next_fetch_offset
        if at == start:
            topic, partition = records._tp
            behind = max(at + 1, _batch_end(error))
            raise RecordUnreadable(topic, partition, at, behind, type(error).__name__) from error


def _batch_end(error: Exception) -> int:
    """The offset after the batch that the client was at, which nothing but its frame knows."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    batches = (frame.f_locals.get("next_batch") for frame in frames)
    return max((batch.next_offset for batch in batches if batch is not None), default=0)


# --- What the log says -------------------------------------------------------------------------


class _ExpectedRetries(logging.Filter):
    """R12: drops "NotEnoughReplicas, retrying" of produce requests, and counts it.

    A broker with transaction.version 2 verifies the first write of each transaction of an older
    client, and while it can't it answers so: the client's retry is part of the normal course.
    """

    marks = ("NotEnoughReplicas", "Unable to verify the partition has been added")
    count = 0

    def filter(self, record: logging.LogRecord) -> bool:
        if not str(record.msg).startswith("Got error produce response on topic-partition"):
            return True
        message = record.getMessage()
        if not any(mark in message for mark in self.marks):
            return True
        self.count += 1
        return False


_expected_retries = _ExpectedRetries()


class _Rebalances(logging.Filter):
    """Drops the warning by which each member learns of a rebalance: it is how groups work.

    Each assignment has a line of its own.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        return "because it is rebalancing" not in str(record.msg)


_rebalances = _Rebalances()


def muted_retries() -> int:
    """How many expected retries of produce requests were left out of the log so far."""
    return _expected_retries.count


# A start that is refused for 30 s logs each of its attempts; they differ in little.
MOST_REASONS = 16


class Reasons:
    """What one start got to hear, each reason once, the last ones where there are too many.

    The client's long-lived tasks inherit it with their context: once the start is over it takes
    nothing in, however long they live and complain.
    """

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=MOST_REASONS)
        self._over = False

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def take(self, line: str) -> None:
        if not self._over and line not in self._lines:
            self._lines.append(line)

    def end(self) -> None:
        """The start is over, and whoever wanted to know has looked."""
        self._over = True
        self._lines.clear()


_reasons: ContextVar[Reasons | None] = ContextVar("aiokafka_reasons", default=None)


class _ReasonHandler(logging.Handler):
    """Hands each warning of aiokafka to the start it belongs to.

    Tasks inherit the context of the start that made them, so starts side by side don't mix.
    """

    def attach(self) -> None:
        logging.getLogger("aiokafka").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        reasons = _reasons.get()
        if reasons is not None:
            reasons.take(record.getMessage())


_reason_handler = _ReasonHandler(level=logging.WARNING)


@contextmanager
def captured_reasons() -> Iterator[Reasons]:
    """R16: what aiokafka logs as warning or worse inside, in order; gone when the block ends.

    Every security failure reaches the caller as "Unable to bootstrap"; the reason is only logged.
    """
    reasons = Reasons()
    token = _reasons.set(reasons)
    try:
        yield reasons
    finally:
        _reasons.reset(token)
        reasons.end()


# --- Producers ---------------------------------------------------------------------------------


def highest_sequence(producer: AIOKafkaProducer) -> int:
    """The largest sequence number this producer used on any partition; negative after a wrap."""
    sequences: Mapping[Any, int] = producer._txn_manager._sequence_numbers
    lowest = min(sequences.values(), default=0)
    return lowest if lowest < 0 else max(sequences.values(), default=0)


async def kill_producer(producer: AIOKafkaProducer, within: float) -> None:
    """R5: end every task and connection of the producer in at most `within` seconds.

    Nothing is flushed, aborted or retried, and no task outlives the call unless it swallows three
    cancellations. `stop()` would wait for as long as the broker is away and a batch is unsent.
    """
    producer._closed = True  # the producer's finalizer warns of unclosed ones
    manager, accumulator = producer._txn_manager, producer._message_accumulator
    accumulator._closed = True
    await _end(within, producer.client, producer._sender, accumulator)
    batches = [batch for queue in accumulator._batches.values() for batch in queue]
    for batch in (*batches, *accumulator._pending_batches):
        _retrieve(batch.future)
        _retrieve(batch._drain_waiter)
    if manager is not None:
        _retrieve(manager._transaction_waiter)


async def kill_client(client: Any, within: float) -> None:
    """End every task and connection of a bare client in at most `within` seconds."""
    await _end(within, client)


async def kill_admin(admin: AIOKafkaAdminClient, within: float) -> None:
    """End every task and connection of an admin client in at most `within` seconds."""
    await _end(within, admin._client)


def add_bare(producer: AIOKafkaProducer, partitions: Iterable[TopicPartition]) -> None:
    """Add partitions to the transaction under way without any record in them.

    The end of the transaction puts its marker there, which is all that readers get of it.
    """
    for partition in partitions:
        producer._txn_manager.maybe_add_partition_to_txn(partition)


def identity(producer: AIOKafkaProducer) -> tuple[int, int]:
    """Producer id and epoch of a producer that has started."""
    return producer._txn_manager.producer_id, producer._txn_manager.producer_epoch


async def kill_consumer(consumer: AIOKafkaConsumer, within: float) -> None:
    """End every task and connection of the consumer in at most `within` seconds.

    A member of a group is not announced as leaving: the broker notices at the session timeout.
    """
    consumer._closed = True
    owners = (consumer._fetcher, consumer._coordinator, consumer._subscription)
    await _end(within, consumer._client, *(owner for owner in owners if owner is not None))


async def _end(within: float, client: Any, *owners: object) -> None:
    deadline = time.monotonic() + within
    connections = list(client._conns.values())
    client._conns.clear()
    for connection in connections:
        if connection._writer is not None:
            # close() alone first waits until a stopped broker has read what is buffered
            connection._writer.transport.abort()
        connection._on_close_cb = None  # it would wake the metadata task for a new connection
        connection.close()
    await _cancel(deadline, (client, *owners))
    client._sync_task = None
    closed = [connection._closed_fut for connection in connections]
    if closed:
        await asyncio.wait(closed, timeout=max(0.0, deadline - time.monotonic()))


async def _cancel(deadline: float, owners: tuple[object, ...]) -> None:
    """Cancel the owners' tasks; again where one waits for a child when it is cancelled."""
    for _ in range(3):
        tasks = _tasks_of(owners)
        if not tasks:
            return
        for task in tasks:
            task.cancel()
        remaining = deadline - time.monotonic()
        done, _ = await asyncio.wait(tasks, timeout=max(0.0, remaining / 2))
        for task in done:
            _retrieve(task)


def _tasks_of(owners: tuple[object, ...]) -> list[asyncio.Task[Any]]:
    """The running tasks whose coroutine is a method of one of the owners.

    The client keeps its child tasks in local variables of its coroutines, so there is no list.
    """
    current = asyncio.current_task()
    return [
        task
        for task in asyncio.all_tasks()
        if task is not current and any(_self_of(task) is owner for owner in owners)
    ]


def _self_of(task: asyncio.Task[Any]) -> object:
    frame = getattr(task.get_coro(), "cr_frame", None)
    return frame.f_locals.get("self") if frame is not None else None


def _retrieve(future: asyncio.Future[Any] | None) -> None:
    """Read an exception nobody waits for any more; asyncio reports unread ones as a fault."""
    if future is not None and future.done() and not future.cancelled():
        future.exception()
