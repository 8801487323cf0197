"""How every Kafka client of the bridge is made and started: one place for all client settings.
The caller says where and as whom (bootstrap_servers, security_protocol, ssl_context, sasl_…).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.client import AIOKafkaClient
from aiokafka.coordinator.assignors.abstract import AbstractPartitionAssignor
from aiokafka.errors import (
    GroupAuthorizationFailedError,
    KafkaConnectionError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
)

from bridge.errors import BridgeError, ClusterError, NotAuthorized, Unreachable
from bridge.kafka.aiokafka_internals import (
    captured_reasons,
    kill_admin,
    kill_client,
    kill_consumer,
    kill_producer,
    prepare,
)
from bridge.kafka.doorstep import turned_away

ClientSettings = Mapping[str, Any]

# What waits for what, in seconds: request 8 < transaction deadline 9 < transaction timeout 15.
# One lost request is noticed and the slot's producer is dead before the broker aborts for it.
REQUEST_TIMEOUT: Final = 8.0
TRANSACTION_DEADLINE: Final = 9.0
TRANSACTION_TIMEOUT: Final = 15.0
# A start waits for the coordinator to settle the predecessor's transaction: up to its timeout of
# 15 s, the broker's sweep every 10 s, and some room.
START_DEADLINE: Final = 30.0
KILL_DEADLINE: Final = 1.0

# Half the default max.message.bytes, so a batch passes any topic; the client does not split.
BATCH_BYTES: Final = 512 * 1024

_METADATA_MAX_AGE_MS: Final = 30_000  # a deleted topic raises nothing; metadata alone shows it
_RETRY_BACKOFF_MS: Final = 20

PRODUCER: Final[ClientSettings] = {
    "acks": "all",
    "compression_type": "zstd",  # the client's lz4 is about 25 times slower
    "linger_ms": 0,
    "max_batch_size": BATCH_BYTES,
    "metadata_max_age_ms": _METADATA_MAX_AGE_MS,
    "request_timeout_ms": int(REQUEST_TIMEOUT * 1000),
    "retry_backoff_ms": _RETRY_BACKOFF_MS,
}

# R14: reset "none" everywhere. "earliest" would replay and "latest" would skip, both silently.
_CONSUMER: Final[ClientSettings] = {
    "auto_offset_reset": "none",
    "enable_auto_commit": False,
    "metadata_max_age_ms": _METADATA_MAX_AGE_MS,
    "request_timeout_ms": int(REQUEST_TIMEOUT * 1000),
    "retry_backoff_ms": _RETRY_BACKOFF_MS,
}

DATA_CONSUMER: Final[ClientSettings] = {
    **_CONSUMER,
    "isolation_level": "read_committed",
    "fetch_max_wait_ms": 50,  # an idle partition delays its node's next fetch by this much
    "max_poll_records": 500,
}

# Fetches of 4 MiB a partition keep the broker's round trips out of the rate; records are decoded
# as they are taken, so what a poll holds in memory is bounded by the number requested.
RESTORE_CONSUMER: Final[ClientSettings] = {
    **DATA_CONSUMER,
    "max_partition_fetch_bytes": 4 * 1024 * 1024,
    "max_poll_records": None,
}

# Read_uncommitted on purpose: its end offset is the high watermark, not the last stable offset.
WATERMARK_CONSUMER: Final[ClientSettings] = {**_CONSUMER, "isolation_level": "read_uncommitted"}

# Without other word the lease's session is the least that brokers take by default
# (group.min.session.timeout.ms): what a killed worker's slots wait for.
SESSION_MS: Final = 6_000

_HEARTBEAT_MS: Final = 1_000
_REBALANCE_MS: Final = 30_000


Client: TypeAlias = AIOKafkaProducer | AIOKafkaConsumer | AIOKafkaAdminClient | AIOKafkaClient
"""What is started within a deadline and killed within one (R7)."""


def lease_consumer(
    assignor: AbstractPartitionAssignor, session_ms: int = SESSION_MS
) -> ClientSettings:
    """The role of a worker's seat in the group; the broker bounds the session, 6 s to 5 min.

    Six heartbeats at least make a session, and none is later than a second: by it a worker learns
    of a rebalance. A rebalance waits five of the least sessions for members that are busy, and
    never less than one session, or it would drop who is still believed alive. Two assignors at
    once could not agree while workers of two releases run.
    """
    return {
        **_CONSUMER,
        "isolation_level": "read_committed",
        "heartbeat_interval_ms": min(_HEARTBEAT_MS, session_ms // 6),
        "session_timeout_ms": session_ms,
        "rebalance_timeout_ms": max(_REBALANCE_MS, session_ms),
        "partition_assignment_strategy": (assignor,),
    }


def make_producer(
    client: ClientSettings, transactional_id: str, transaction_timeout: float = TRANSACTION_TIMEOUT
) -> AIOKafkaProducer:
    """A transactional producer, not started. Single use: after any failure it must be killed.

    `transaction_timeout`: seconds after which the broker aborts a transaction of a dead owner.
    """
    prepare()
    return AIOKafkaProducer(
        **{**client, **PRODUCER},
        transactional_id=transactional_id,
        transaction_timeout_ms=round(transaction_timeout * 1000),
    )


def make_consumer(
    client: ClientSettings, role: ClientSettings = DATA_CONSUMER, *, group_id: str | None = None
) -> AIOKafkaConsumer:
    """A consumer for one of the roles above, not started. Only the lease has a group."""
    prepare()
    return AIOKafkaConsumer(**{**client, **role}, group_id=group_id)


def make_admin(client: ClientSettings) -> AIOKafkaAdminClient:
    """An admin client, not started. R13: its calls return error codes; it never alters configs."""
    prepare()
    return AIOKafkaAdminClient(**client, request_timeout_ms=int(REQUEST_TIMEOUT * 1000))


def make_client(client: ClientSettings) -> AIOKafkaClient:
    """A bare connection to the cluster, not started, for requests that no other client has."""
    prepare()
    return AIOKafkaClient(**client, request_timeout_ms=int(REQUEST_TIMEOUT * 1000))


async def start_producer(
    producer: AIOKafkaProducer,
    within: float = START_DEADLINE,
    before: Callable[[AIOKafkaClient], Awaitable[None]] | None = None,
) -> None:
    """Start or kill. Starting fences whoever has the transactional id and settles its transaction.

    `before` is called with the producer's own client, connected, while nobody is fenced yet.
    Raises Unreachable, NotAuthorized or ClusterError; the producer is dead then.
    """

    async def start() -> None:
        if before is not None:
            await producer.client.bootstrap()  # the start below does so again, and finds it done
            await before(producer.client)
        await producer.start()

    await _start(producer, start, within)


async def start_consumer(consumer: AIOKafkaConsumer, within: float = START_DEADLINE) -> None:
    """Start or kill; raises as `start_producer`. A start that failed leaves a consumer useless."""
    await _start(consumer, consumer.start, within)


async def start_client(client: AIOKafkaClient, within: float = START_DEADLINE) -> None:
    """Connect or close; raises as `start_producer`."""
    await _start(client, client.bootstrap, within)


async def start_admin(admin: AIOKafkaAdminClient, within: float = START_DEADLINE) -> None:
    """Start or kill; raises as `start_producer`."""
    await _start(admin, admin.start, within)


async def _start(
    client: Client,
    start: Callable[[], Awaitable[None]],
    within: float,
) -> None:
    with captured_reasons() as reasons:
        try:
            async with asyncio.timeout(within):
                await start()
        except BaseException as error:
            await kill(client)
            # R7: the client lets AssertionError and others through, so no narrower class will do
            if isinstance(error, Exception):
                raise _start_error(error, reasons, within) from error
            raise


async def kill(client: Client) -> None:
    """End the client's tasks and connections within KILL_DEADLINE; sends and awaits nothing."""
    if isinstance(client, AIOKafkaProducer):
        await kill_producer(client, KILL_DEADLINE)
    elif isinstance(client, AIOKafkaConsumer):
        await kill_consumer(client, KILL_DEADLINE)
    elif isinstance(client, AIOKafkaAdminClient):
        await kill_admin(client, KILL_DEADLINE)
    else:
        await kill_client(client, KILL_DEADLINE)


async def stop_consumer(consumer: AIOKafkaConsumer, within: float = REQUEST_TIMEOUT) -> None:
    """Stop orderly, which leaves a group at once; kill where that takes too long."""
    # In a task of its own: a fetch that the client had to cancel shows as a cancellation of
    # stop(), which here would pass for one of ours and end the slot without a word.
    stopping = asyncio.create_task(consumer.stop())
    try:
        await asyncio.wait({stopping}, timeout=within)
    finally:
        in_time = not stopping.cancel()
    if not in_time or stopping.cancelled() or stopping.exception() is not None:
        # A broker that is away or a coordinator that failed: nothing is left to say to them.
        await kill(consumer)


def _start_error(error: Exception, reasons: Iterable[str], within: float) -> BridgeError:
    if isinstance(error, TopicAuthorizationFailedError):
        return NotAuthorized(f"Grant the principal access to the topics: {error}")
    if isinstance(error, GroupAuthorizationFailedError):
        return NotAuthorized(f"Grant the principal READ on its group: {error}")
    if isinstance(error, TransactionalIdAuthorizationFailed):
        return NotAuthorized(f"Grant the principal WRITE on the transactional id: {error}")
    # R16: the reason is nowhere in the exception
    reason = "; ".join(reasons) or "the client logged no reason"
    if isinstance(error, KafkaConnectionError):
        return turned_away(reasons)
    if isinstance(error, TimeoutError):
        return Unreachable(f"Not started within {within:g} s. Is the cluster up? {reason}")
    return ClusterError(f"The client could not start: {error!r}. {reason}")
