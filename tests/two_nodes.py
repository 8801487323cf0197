"""A second Kafka node in the cluster of a development broker, for what one node cannot show."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from bridge.demo.broker import DevBroker


class _First(DevBroker):
    """Decides for the cluster, and tells where."""

    controller = 0

    def network(self, port: int, controller: int) -> dict[str, str]:
        self.controller = controller
        return super().network(port, controller)


class _Second(DevBroker):
    """A node that the first decides for."""

    def __init__(self, first: _First) -> None:
        super().__init__()
        self._first = first
        self.cluster = first.cluster

    def network(self, port: int, _controller: int) -> dict[str, str]:
        return {
            "process.roles": "broker",
            "node.id": "2",
            "controller.quorum.voters": f"1@127.0.0.1:{self._first.controller}",
            "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        }


@dataclass(frozen=True)
class TwoNodes:
    """The first node has the controller and the coordinators; the second may be killed."""

    first: DevBroker
    second: DevBroker

    @property
    def bootstrap(self) -> str:
        return self.first.bootstrap

    @cached_property
    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.bootstrap})

    async def create(
        self, node: int, *topics: str, settings: Mapping[str, str] | None = None
    ) -> None:
        """Topics of one partition, with their only replica on this node."""
        config = dict(settings or {})
        asked = [NewTopic(t, 1, replica_assignment=[[node]], config=config) for t in topics]
        for done in self._admin.create_topics(asked).values():
            await asyncio.to_thread(done.result, 30)
        for topic in topics:
            await self.led_by(node, topic)

    async def led_by(self, node: int, topic: str) -> None:
        """Until this node leads the topic; -1 is nobody."""
        async with asyncio.timeout(60):
            while True:
                if await asyncio.to_thread(self._leader, topic) == node:
                    return
                await asyncio.sleep(0.1)

    def _leader(self, topic: str) -> int | None:
        found = self._admin.list_topics(topic, timeout=10).topics[topic].partitions
        return found[0].leader if found else None


@contextmanager
def two_nodes() -> Iterator[TwoNodes]:
    """Start both, and end both with their data."""
    with _First() as first:
        # The coordinator's topic comes with its first user, and has to be on the node that stays
        user = Producer({"bootstrap.servers": first.bootstrap, "transactional.id": "first"})
        user.init_transactions(60)
        with _Second(first) as second:
            yield TwoNodes(first, second)
