"""Where a reader begins: the present end of every partition, however new its topic is."""

from __future__ import annotations

import time
from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaException, TopicPartition

PATIENCE_S = 30.0


def assign_ends(consumer: Consumer, topics: Sequence[str], partitions: int) -> None:
    """Assign all partitions of the topics at their ends.

    A leader that has just been elected may not know it yet: asked again, for half a minute.
    """
    at = [TopicPartition(topic, number) for topic in topics for number in range(partitions)]
    for partition in at:
        partition.offset = _end(consumer, partition)
    consumer.assign(at)


def _end(consumer: Consumer, partition: TopicPartition) -> int:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            _, end = consumer.get_watermark_offsets(partition, 10)
        except KafkaException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return int(end)
