"""Records of a transaction as whole batches by partition: 1-3 us a record, `send()` takes 7-11."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import zip_longest

from aiokafka.producer.message_accumulator import BatchBuilder
from aiokafka.structs import TopicPartition

from bridge.records.outgoing import Outgoing
from bridge.records.topics import Topics


class Batch:
    """A batch for one partition, open until it is full."""

    __slots__ = ("builder", "partition")

    def __init__(self, partition: TopicPartition, builder: BatchBuilder) -> None:
        self.partition = partition
        self.builder = builder

    def append(self, record: Outgoing) -> bool:
        """Whether the record found room."""
        appended = self.builder.append(
            timestamp=None,  # the client's, which brokers replace by theirs
            key=record.key,
            value=record.value,
            headers=list(record.headers),
        )
        return appended is not None


def batches_of(
    outgoing: Iterable[Outgoing],
    slot: int,
    topics: Topics,
    create: Callable[[], BatchBuilder],
) -> list[Batch]:
    """The first batches of all partitions come first: a partition's next one has to wait until
    the one before is on its way.
    """
    built: dict[TopicPartition, list[Batch]] = {}
    for record in outgoing:
        partition = slot if record.partition is None else record.partition
        target = TopicPartition(topics[record.topic], partition)
        mine = built.setdefault(target, [])
        if not mine or not mine[-1].append(record):
            mine.append(Batch(target, create()))
            mine[-1].append(record)  # the first record of a batch may have any size
    return [batch for turn in zip_longest(*built.values()) for batch in turn if batch]
