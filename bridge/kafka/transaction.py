"""A slot's transactional producer: one call writes one transaction, wholly or not at all.
It keeps no records and retries nothing: after any failure it is dead, and the slot opens a new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from aiokafka.client import AIOKafkaClient
from aiokafka.errors import (
    InvalidProducerEpoch,
    ProducerFenced,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from aiokafka.structs import RecordMetadata, TopicPartition

from bridge.core.model import Millis
from bridge.errors import (
    BridgeError,
    ClusterError,
    Fenced,
    NotAuthorized,
    OutcomeUnknown,
    TopicNotStamped,
    TopicsWrong,
    TransactionError,
    TransactionFailed,
)
from bridge.kafka.aiokafka_internals import (
    RETIRE_AT_SEQUENCE,
    add_bare,
    highest_sequence,
    identity,
    muted_retries,
)
from bridge.kafka.batches import Batch, batches_of
from bridge.kafka.clients import (
    REQUEST_TIMEOUT,
    START_DEADLINE,
    TRANSACTION_DEADLINE,
    TRANSACTION_TIMEOUT,
    ClientSettings,
    kill,
    make_producer,
    start_producer,
)
from bridge.kafka.inquiry import Inquiry
from bridge.kafka.verdict import End, Verdicts
from bridge.records.outgoing import Outgoing
from bridge.records.topics import OUTPUTS, WRITTEN, Topics

T = TypeVar("T")

_ATTEMPTS: Final = 10

Life = Literal["new", "ready", "busy", "dead"]


@dataclass(frozen=True, slots=True)
class Committed:
    """Where the transaction's last state record stands, and when the broker stamped it.

    Both None where it held no state record or the broker did not say; the timestamp also where
    the topic is not stamped with LogAppendTime.
    """

    offset: int | None
    timestamp: Millis | None


def untimed(topic: str, committed: Committed) -> BridgeError:
    """Why a commit to the state topic brought no time; nothing is decided before a broker has."""
    if committed.offset is None:
        return TransactionFailed("It was acknowledged without its time. Open the slot again.")
    return TopicNotStamped(
        f"Brokers put no time on the records of {topic}, so no deadline can be judged. "
        "Run: interrupt-bridge topics check"
    )


async def persistently(write: Callable[[], Awaitable[T]], lost: type[TransactionError]) -> T:
    """What `write` returns, tried again after that error.

    A slot that keeps opening fences the tool that writes to its state, and is itself fenced by it.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return await write()
        except lost:
            continue
    return await write()


def _ignore(_stamp: Millis) -> None:
    return None


class SlotProducer:
    """The producer of one slot; its epoch is the lease on the slot that counts."""

    def __init__(
        self,
        client: ClientSettings,
        transactional_id: str,
        slot: int,
        topics: Topics,
        *,
        verdicts: Verdicts | None = None,
        on_stamp: Callable[[Millis], None] = _ignore,
        deadline: float = TRANSACTION_DEADLINE,
        timeout: float = TRANSACTION_TIMEOUT,
        retire_at: int = RETIRE_AT_SEQUENCE,
    ) -> None:
        """`verdicts` is where the slot stores what became of its former transactions; `on_stamp`
        gets each stamp of the state partition as it comes, in a transaction that fails afterwards
        too; `deadline` (seconds) bounds each transaction here, `timeout` on the broker, where it
        must be longer; `retire_at` is the sequence number of a partition from which on it begins
        no other transaction.
        """
        self.verdicts = verdicts if verdicts is not None else Verdicts()
        self.transactional_id = transactional_id
        self.life: Life = "new"
        self._producer = make_producer(client, transactional_id, timeout)
        self._slot = slot
        self._topics = topics
        self._deadline = deadline
        self._on_stamp = on_stamp
        self._retire_at = retire_at

    async def start(self, within: float = START_DEADLINE) -> None:
        """Fence the predecessor and settle its open transaction (R1: read nothing before this).

        What the coordinator knows of that transaction is queried first: the fence wipes it.
        Raises Unreachable, NotAuthorized, TopicsWrong or ClusterError; the producer is dead then.
        """
        self.life = "busy"
        try:
            await start_producer(self._producer, within, self._ask)
            async with asyncio.timeout(within):
                # Topics' metadata now: later it would be a round trip inside a transaction
                names = [self._topics[role] for role in WRITTEN]
                found = await asyncio.gather(*map(self._producer.partitions_for, names))
            for name in (
                n for n, there in zip(names, found, strict=True) if self._slot not in there
            ):
                missing = f"{name} has no partition {self._slot}"
                raise TopicsWrong(f"{missing}. Run: interrupt-bridge topics check")
        except BaseException as error:
            await self.kill()
            if isinstance(error, BridgeError) or not isinstance(error, Exception):
                raise
            if isinstance(error, TopicAuthorizationFailedError):
                raise NotAuthorized(f"Grant the principal WRITE on the topics: {error}") from error
            if isinstance(error, UnknownTopicOrPartitionError):
                what = "A topic is missing. Run: interrupt-bridge topics check"
                raise TopicsWrong(what) from error
            what = f"The producer {self.transactional_id} could not start: {error!r}"
            raise ClusterError(what) from error
        self.life = "ready"

    async def commit(self, outgoing: Sequence[Outgoing]) -> Committed:
        """Write all records in one transaction and return once it is committed.

        Raises Fenced, OutcomeUnknown or TransactionFailed; the producer is dead then, and what
        memory holds may only change through a restore by the next owner of the slot.
        """
        if not outgoing:
            # R10: the client commits an empty transaction locally, so a fenced producer gets OK
            raise ValueError("A transaction needs a record; send the position as a heartbeat.")
        await self._enter()
        requested, retries = False, muted_retries()
        try:
            async with asyncio.timeout(self._deadline):  # R5: one deadline for all steps
                await self._producer.begin_transaction()
                acknowledged = await self._send(outgoing)
                requested = True
                await self._producer.commit_transaction()
        except BaseException as error:  # R6, R7: whatever it was, nothing is aborted or repeated
            await self.kill()
            if not isinstance(error, Exception):
                raise
            raise self._failure(error, requested, muted_retries() - retries) from error
        self.life = "ready"
        return self._committed(acknowledged)

    async def end_open(self, partitions: Iterable[TopicPartition], end: End) -> None:
        """Put the end of a transaction, and no record, into partitions where one lies open.

        The leader ends whatever this producer id has open there, so `end` must be the end that
        the lost transaction got. Raises as `commit`.
        """
        await self._enter()
        requested = False
        try:
            async with asyncio.timeout(self._deadline):
                await self._producer.begin_transaction()
                add_bare(self._producer, partitions)
                requested = True
                if end == "commit":
                    await self._producer.commit_transaction()
                else:
                    await self._producer.abort_transaction()
        except BaseException as error:
            await self.kill()
            if not isinstance(error, Exception):
                raise
            raise self._failure(error, requested, 0) from error
        self.life = "ready"

    @property
    def inquiry(self) -> Inquiry:
        """Questions over this producer's connections."""
        return Inquiry(self._producer.client)

    @property
    def identity(self) -> tuple[int, int]:
        """Its producer id and epoch, once it has started."""
        return identity(self._producer)

    @property
    def _state(self) -> TopicPartition:
        return TopicPartition(self._topics["state"], self._slot)

    @property
    def shared_topic(self) -> str:
        """The only topic of which other slots write to the same partitions."""
        return self._topics["reroute"]

    async def own_partitions(self) -> list[TopicPartition]:
        """All that its transactions may write to: its partition of each topic, and every home."""
        homes = await self.partitions_for(self.shared_topic)
        mine = [TopicPartition(self._topics[role], self._slot) for role in ("state", *OUTPUTS)]
        return mine + [TopicPartition(self.shared_topic, home) for home in sorted(homes)]

    async def partitions_for(self, topic: str) -> frozenset[int]:
        """The partitions of any topic. Raises TopicsWrong for one that is not there (R15)."""
        try:
            return frozenset(await self._producer.partitions_for(topic))
        except UnknownTopicOrPartitionError as error:
            raise TopicsWrong(
                f"The topic {topic} does not exist. Create it, or run: "
                "interrupt-bridge topics check"
            ) from error

    async def partition_counts(self, topics: Iterable[str]) -> dict[str, int]:
        """How many partitions topics have, by the newest metadata there is (R15).

        Raises TopicsWrong for one that is not there.
        """
        with suppress(TimeoutError):  # the cluster is away: what was known of it has to do
            async with asyncio.timeout(REQUEST_TIMEOUT):
                await self._producer.client.force_metadata_update()
        return {topic: len(await self.partitions_for(topic)) for topic in topics}

    async def close(self, within: float = REQUEST_TIMEOUT) -> None:
        """Close the connections between transactions; a producer in any other state is killed."""
        if self.life == "ready":
            self.life = "dead"
            try:
                async with asyncio.timeout(within):
                    await self._producer.stop()
            except TimeoutError:
                await self.kill()
        else:
            await self.kill()

    async def kill(self) -> None:
        """End tasks and connections at once. An open transaction is left to whoever fences it."""
        self.life = "dead"
        await kill(self._producer)

    async def _ask(self, client: AIOKafkaClient) -> None:
        self.verdicts.learn(await Inquiry(client).last_transaction(self.transactional_id))

    async def _enter(self) -> None:
        if self.life != "ready":
            raise TransactionFailed(
                f"The producer {self.transactional_id} is {self.life}: open the slot again."
            )
        highest = highest_sequence(self._producer)
        if highest < 0 or highest >= self._retire_at:
            await self.kill()
            raise TransactionFailed(
                f"The producer {self.transactional_id} has used its sequence numbers up: "
                "open the slot again."
            )
        self.life = "busy"

    async def _send(self, outgoing: Sequence[Outgoing]) -> list[tuple[Batch, RecordMetadata]]:
        batches = batches_of(outgoing, self._slot, self._topics, self._producer.create_batch)
        # Without a pause in between, so that all partitions share one AddPartitions request
        futures = [
            await self._producer.send_batch(
                batch.builder, batch.partition.topic, partition=batch.partition.partition
            )
            for batch in batches
        ]
        for batch, future in zip(batches, futures, strict=True):
            if batch.partition == self._state:
                future.add_done_callback(self._hear)
        # R4: a failed batch fails its future only; a commit would publish all the others
        results = await asyncio.gather(*futures, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return list(zip(batches, results, strict=True))

    def _hear(self, acknowledged: asyncio.Future[RecordMetadata]) -> None:
        failed = acknowledged.cancelled() or acknowledged.exception() is not None
        if not failed and acknowledged.result().timestamp >= 0:
            self._on_stamp(acknowledged.result().timestamp)

    def _committed(self, acknowledged: list[tuple[Batch, RecordMetadata]]) -> Committed:
        for batch, metadata in reversed(acknowledged):
            # A retry that the broker knew already is acknowledged with offset and time -1
            if batch.partition == self._state and metadata.offset >= 0:
                return Committed(
                    offset=metadata.offset + batch.builder.record_count() - 1,
                    timestamp=metadata.timestamp if metadata.timestamp >= 0 else None,
                )
        return Committed(None, None)

    def _failure(self, error: Exception, requested: bool, retries: int) -> TransactionError:
        cause = f"{self.transactional_id}: {error!r}"
        if _is_fencing(error):  # the client's own text of it runs two sentences together
            return Fenced(
                f"{self.transactional_id}: another producer has taken the id, or the broker has "
                "timed the transaction out. Look at the group membership before reopening the slot."
            )
        if requested:
            return OutcomeUnknown(f"Open the slot again and restore to learn it. {cause}")
        if isinstance(error, TimeoutError):
            cause = f"{self.transactional_id}: no answer within {self._deadline:g} s"
            if retries:
                cause += "; the broker said NotEnoughReplicas: look at its in-sync replicas"
        return TransactionFailed(f"Nothing was written; open the slot again. {cause}")


def _is_fencing(error: BaseException | None) -> bool:
    """Whether the broker refused the epoch; the client wraps what its sender raised."""
    while error is not None:
        if isinstance(error, ProducerFenced | InvalidProducerEpoch):
            return True
        error = error.__cause__
    return False
