"""Asks the cluster what it knows of transactions: ends of logs, open transactions, verdicts.

It reads and never writes. Every request is sent again until it is answered; whoever asks bounds
it with a deadline.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from aiokafka.client import AIOKafkaClient, ConnectionGroup, CoordinationType
from aiokafka.errors import (
    KafkaError,
    NoError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
    for_code,
)
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.protocol.offset import OffsetRequest
from aiokafka.record.control_record import ABORT_MARKER, COMMIT_MARKER, ControlRecord
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.structs import TopicPartition

from bridge.kafka.clients import ClientSettings, kill, make_client, start_client
from bridge.kafka.transaction_requests import DescribeProducers, DescribeTransactions
from bridge.kafka.verdict import End, LastTransaction, Marker, OpenTransaction

T = TypeVar("T")
Answers = Iterable[tuple[TopicPartition, int, T]]
"""By partition: an error code, and what the leader answered."""

_AGAIN_S: Final = 0.05
_LATEST: Final = -1  # "the end of the log" where a request wants an instant
_UNCOMMITTED, _COMMITTED = 0, 1
_FETCH_BYTES: Final = 64 * 1024
_NOT_ALLOWED: Final = TopicAuthorizationFailedError.errno
_ID_NOT_FOUND: Final = 105  # the client has no name for it


@dataclass(frozen=True, slots=True)
class Ends:
    """Where a log ends: for readers of committed records, and for its writers."""

    stable: int
    high: int

    @property
    def behind(self) -> bool:
        """Whether a transaction is open: what lies behind it cannot be read."""
        return self.stable < self.high


class Inquiry:
    """Questions over a client that is connected; it stays its owner's."""

    def __init__(self, client: AIOKafkaClient) -> None:
        self._client = client

    @property
    def brokers(self) -> int:
        """How many the cluster has, as far as is known."""
        return len(self._client.cluster.brokers())

    async def last_transaction(self, transactional_id: str) -> LastTransaction | None:
        """How the last transaction of an id stands; None for an id without a past.

        Raises TransactionalIdAuthorizationFailed.
        """
        while True:
            try:
                node = await self._client.coordinator_lookup(
                    CoordinationType.TRANSACTION, transactional_id
                )
                answer = await self._client.send(
                    node, DescribeTransactions(transactional_id), group=ConnectionGroup.COORDINATION
                )
            except TransactionalIdAuthorizationFailed:
                raise TransactionalIdAuthorizationFailed(transactional_id) from None
            except KafkaError as error:
                await self._again(error)
                continue
            code, _id, state, _timeout, began, producer, epoch, topics, _ = (
                answer.transaction_states[0]
            )
            if code == _ID_NOT_FOUND:
                return None
            if code == NoError.errno:
                written = [TopicPartition(topic, p) for topic, ps, _ in topics for p in ps]
                return LastTransaction(
                    state, producer, epoch, partitions=frozenset(written), began=began
                )
            await self._again(for_code(code)(transactional_id))

    async def ends(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, Ends]:
        """Last stable offset and high watermark of each, the watermark first."""
        high = await self._ask_leaders(partitions, _end_request(_UNCOMMITTED), _read_ends)
        stable = await self._ask_leaders(partitions, _end_request(_COMMITTED), _read_ends)
        return {tp: Ends(stable[tp], high[tp]) for tp in partitions}

    async def open_transactions(
        self, partitions: Sequence[TopicPartition]
    ) -> dict[TopicPartition, list[OpenTransaction] | None]:
        """Who has a transaction open in each; None where the principal may not READ the topic."""
        return await self._ask_leaders(partitions, DescribeProducers, _read_producers)

    async def last_marker(self, partition: TopicPartition, high: int) -> Marker | None:
        """The marker at the very end of a log; None where something else stands there."""
        if high == 0:
            return None

        def last_batch(partitions: Sequence[TopicPartition]) -> FetchRequest:
            topics = _by_topic(partitions, lambda tp: (tp.partition, high - 1, _FETCH_BYTES))
            return FetchRequest(0, 0, _FETCH_BYTES, _UNCOMMITTED, topics)

        answer = await self._ask_leaders([partition], last_batch, _read_batches)
        records = MemoryRecords(answer[partition])
        batch = records.next_batch() if records.has_next() else None
        record = next(batch, None) if batch is not None and batch.is_control_batch else None
        if batch is None or record is None:  # the cleaner empties old markers
            return None
        found = ControlRecord.parse(record.key)
        if found not in (COMMIT_MARKER, ABORT_MARKER):
            return None
        end: End = "commit" if found == COMMIT_MARKER else "abort"
        return Marker(batch.producer_id, batch.producer_epoch, end)

    async def _ask_leaders(
        self,
        partitions: Sequence[TopicPartition],
        request: Callable[[Sequence[TopicPartition]], Any],
        read: Callable[[Any], Answers[T]],
    ) -> dict[TopicPartition, T]:
        """Ask the leader of each partition, and again where one did not know."""
        answers: dict[TopicPartition, T] = {}
        while missing := [tp for tp in partitions if tp not in answers]:
            try:
                led: dict[int, list[TopicPartition]] = {}
                for tp in missing:
                    leader = self._client.cluster.leader_for_partition(tp)
                    if leader is None:
                        self._client.add_topic(tp.topic)  # new metadata will tell
                    elif leader >= 0:
                        led.setdefault(leader, []).append(tp)
                for node, mine in led.items():
                    for tp, code, answer in read(await self._client.send(node, request(mine))):
                        if code != NoError.errno:
                            raise for_code(code)(f"{tp.topic}/{tp.partition}")
                        answers[tp] = answer
            except KafkaError as error:
                await self._again(error)
                continue
            if len(answers) < len(partitions):
                await self._again(None)
        return answers

    async def _again(self, error: KafkaError | None) -> None:
        """Raise what no patience mends, or else wait for a moment and for new metadata."""
        if error is not None and not error.retriable:
            raise error
        await asyncio.sleep(_AGAIN_S)
        await self._client.force_metadata_update()


@asynccontextmanager
async def inquiring(client: ClientSettings) -> AsyncIterator[Inquiry]:
    """Questions over a connection of their own. Raises Unreachable or ClusterError."""
    connection = make_client(client)
    await start_client(connection)
    try:
        yield Inquiry(connection)
    finally:
        await kill(connection)


def _end_request(isolation: int) -> Callable[[Sequence[TopicPartition]], OffsetRequest]:
    return lambda partitions: OffsetRequest(
        -1, isolation, _by_topic(partitions, lambda tp: (tp.partition, _LATEST))
    )


def _by_topic(
    partitions: Iterable[TopicPartition], row: Callable[[TopicPartition], tuple[int, ...]]
) -> list[tuple[str, list[tuple[int, ...]]]]:
    topics: dict[str, list[tuple[int, ...]]] = {}
    for tp in partitions:
        topics.setdefault(tp.topic, []).append(row(tp))
    return list(topics.items())


def _read_ends(answer: Any) -> Answers[int]:
    for topic, partitions in answer.topics:
        for number, code, _timestamp, offset in partitions:
            yield TopicPartition(topic, number), code, offset


def _read_batches(answer: Any) -> Answers[bytes]:
    for topic, partitions in answer.topics:
        for number, code, *_, batches in partitions:
            yield TopicPartition(topic, number), code, batches or b""


def _read_producers(answer: Any) -> Answers[list[OpenTransaction] | None]:
    for topic, partitions, _ in answer.topics:
        for number, code, _message, producers, _ in partitions:
            tp = TopicPartition(topic, number)
            if code == _NOT_ALLOWED:
                yield tp, NoError.errno, None
                continue
            open_ = [
                OpenTransaction(tp, start, producer_id, epoch, last_written)
                for producer_id, epoch, _sequence, last_written, _by, start, _ in producers
                if start >= 0
            ]
            yield tp, code, open_
