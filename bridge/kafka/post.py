"""One record to one topic, acknowledged by all replicas: how a person's answer gets on its way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, TopicAuthorizationFailedError

from bridge.core.model import Origin
from bridge.errors import ClusterError, NotAuthorized, Unreachable
from bridge.kafka.aiokafka_internals import prepare
from bridge.kafka.clients import REQUEST_TIMEOUT, ClientSettings, kill, start_producer

_DEADLINE: Final = 2 * REQUEST_TIMEOUT + 4  # one lost request, one retry, and some room


Post = Callable[[str, bytes | None, bytes, int], Awaitable[Origin]]
"""`await post(topic, key, value, partition)`: where the record stands."""


async def post(
    client: ClientSettings, topic: str, key: bytes, value: bytes, partition: int
) -> Origin:
    """Write one record and tell where it stands; raises what `posting` says."""
    async with posting(client) as write:
        return await write(topic, key, value, partition)


@asynccontextmanager
async def posting(client: ClientSettings) -> AsyncIterator[Post]:
    """Writes records one after the other.

    Raises Unreachable, NotAuthorized or ClusterError. After Unreachable the record may or may not
    be there: send it again, answers and operations are idempotent.
    """
    prepare()
    producer = AIOKafkaProducer(
        **client,
        acks="all",
        enable_idempotence=True,
        request_timeout_ms=round(REQUEST_TIMEOUT * 1_000),
    )

    async def write(topic: str, key: bytes | None, value: bytes, partition: int) -> Origin:
        try:
            async with asyncio.timeout(_DEADLINE):
                sent = await producer.send_and_wait(topic, value, key, partition)
        except TopicAuthorizationFailedError as error:
            raise NotAuthorized(f"Grant the principal WRITE on the topic {topic}.") from error
        except TimeoutError as error:
            what = f"{topic} did not take the record in {_DEADLINE:.0f} s; again?"
            raise Unreachable(what) from error
        except KafkaError as error:
            raise ClusterError(f"{topic} did not take the record: {error!r}") from error
        return Origin(topic, partition, sent.offset, sent.timestamp)

    await start_producer(producer)
    try:
        yield write
    finally:
        # Nothing is left to flush, and an orderly stop waits as long as a broker is away.
        await kill(producer)
