"""A bridge in memory for peer programs: the real reading, rules and building, without Kafka."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from bridge.core.model import Limits, SourcePolicy
from bridge.core.record import Record
from bridge.core.schema import SchemaCache
from bridge.protocols import configured
from bridge.slot.desk import Desk, Source
from tests.peers.observed import Observed
from tests.peers.peer import Peer
from tests.peers.program import Trouble
from tests.unit.slot.desk import NOW, TOPICS, Bench, raw

T = TypeVar("T")


class Slot:
    """What a case needs of a bridge. Time passes only while somebody waits."""

    def __init__(self, peer: Peer) -> None:
        options, continuity = peer.source.get("options", {}), peer.source.get("continuity", False)
        protocol = configured(peer.protocol, options, continuity)
        source = Source(peer.name, protocol, SourcePolicy())
        self.observed = Observed()
        self._bench = Bench(Desk(0, 1, {peer.name: source}, TOPICS, Limits(), SchemaCache(16)))
        self._offset = 0

    async def publish(self, peer: Peer, records: Sequence[Mapping[str, Any]]) -> list[str]:
        return [
            self._take(peer.name, each["value"].encode(), each["key"].encode()) for each in records
        ]

    async def answer(self, members: Mapping[str, Any]) -> None:
        self._take(TOPICS["answers"], json.dumps(members).encode())

    async def operate(self, members: Mapping[str, Any]) -> None:
        self._take(TOPICS["operations"], json.dumps(members).encode())

    async def until(self, holds: Callable[[Observed], T | None], what: str) -> T:
        for _ in range(10):
            if (found := holds(self.observed)) is not None:
                return found
            self._cycle(due=self._now)
        raise Trouble(f"waited in vain for {what}")

    @property
    def _now(self) -> int:
        return NOW + 1_000 * self._offset

    def _take(self, topic: str, value: bytes, key: bytes | None = None) -> str:
        place = f"{topic}/0/{self._offset}"
        self._cycle(raw(value, topic, key, self._offset, self._now))
        return place

    def _cycle(self, *records: Record, due: int | None = None) -> None:
        for out in self._bench.cycle(*records, now=self._now, due=due):
            self.observed.take(out.topic, out.value, out.headers)
        self._offset += 1
