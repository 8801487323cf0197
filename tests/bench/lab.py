"""A broker for one figure, and topics for one run in it.

`BENCH_BOOTSTRAP` names a running cluster instead; figures that need a fresh broker say so.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from aiokafka.admin import NewTopic
from confluent_kafka import Producer

from bridge.demo.broker import DevBroker
from bridge.kafka import topic_admin, topics
from bridge.records import topics as own_topics

# The optimising compiler, and room for the page cache's indexes: the broker is no figure of ours.
JVM_OPTIONS = ("-XX:+UseSerialGC", "-Xms1g", "-Xmx1g")

Keyed = tuple[bytes, bytes]
"""Key and value of a record."""


@contextmanager
def broker(*, fresh: bool = False) -> Iterator[str]:
    """`host:port` of a broker for as long as the block runs."""
    given = os.environ.get("BENCH_BOOTSTRAP")
    if given and not fresh:
        yield given
        return
    with DevBroker(jvm_options=JVM_OPTIONS) as running:
        yield running.bootstrap


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of one run: the bridge's own by role, and where the events come from."""

    bootstrap: str
    own: own_topics.Topics
    events: str
    partitions: int

    def __getitem__(self, role: own_topics.Role) -> str:
        return self.own[role]


def make_topics(
    bootstrap: str,
    partitions: int,
    *,
    prefix: str = "",
    events: str = "",
    more: Sequence[str] = (),
) -> Topics:
    """Topics under names of their own, or under these; `more` are plain ones beside them."""
    prefix = prefix or f"bench-{uuid.uuid4().hex[:8]}."
    made = Topics(
        bootstrap,
        own_topics.Topics.under(prefix),
        events or f"{prefix}run-finished",
        partitions,
    )
    asyncio.run(_create(made, more))
    return made


async def _create(made: Topics, more: Sequence[str]) -> None:
    client = {"bootstrap_servers": made.bootstrap}
    plain = [NewTopic(name, made.partitions, 1) for name in (made.events, *more)]
    async with topic_admin.connected(client) as admin:
        await topic_admin.ensure(admin, plain)
    wanted = topics.Wanted(made.own, (made.events,), made.partitions)
    await topic_admin.create(client, wanted)


def load(made: Topics, records: Iterable[tuple[str, Keyed]], partition: int = 0) -> None:
    """Write (topic, (key, value)) records to one partition, zstd, and return once all are there."""
    producer = Producer(
        {
            "bootstrap.servers": made.bootstrap,
            "compression.type": "zstd",
            "acks": "all",
            "enable.idempotence": True,
            "log_level": 3,
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    for topic, (key, value) in records:
        producer.produce(topic, value, key, partition)
        producer.poll(0)
    left = producer.flush(60)
    if left:
        raise TimeoutError(f"{left} records were not taken in 60 s")
