"""How long readers of committed records have stood before an open transaction. Pure.

A log's last stable offset stays where the oldest open transaction began; what lies behind it is
there and cannot be read. On a busy log transactions come and go and the offset moves: only its
standing still tells of one that hangs.
"""

from __future__ import annotations

from aiokafka.structs import TopicPartition


class Standstill:
    """Fed with the two ends of logs; times are seconds of any clock that runs evenly."""

    def __init__(self) -> None:
        self._since: dict[TopicPartition, tuple[int, float]] = {}  # the stable offset, since when

    def look(self, partition: TopicPartition, stable: int, high: int, now: float) -> None:
        """Take down what a fetch reported of a log."""
        if stable >= high:
            self._since.pop(partition, None)
        elif self._since.get(partition, (-1, 0.0))[0] != stable:
            self._since[partition] = (stable, now)

    def longer_than(self, seconds: float, now: float) -> list[TopicPartition]:
        """Where nothing has moved for at least that long although there is more."""
        return [tp for tp, (_, since) in self._since.items() if now - since >= seconds]

    def by_topic(self, now: float) -> dict[str, float]:
        """Seconds of the partition that has stood for longest; topics that move are left out."""
        longest: dict[str, float] = {}
        for tp, (_, since) in self._since.items():
            longest[tp.topic] = max(now - since, longest.get(tp.topic, 0.0))
        return longest
