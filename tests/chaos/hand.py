"""Load written by hand: exact bytes to exact places, and what the bridge makes of them.

Sends with another client than the bridge's own, which also allows what aiokafka refuses.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer
from confluent_kafka import Producer

from bridge.audit.ids import make_id
from bridge.audit.log import LogRecord, Role
from bridge.audit.reader import partitions_of, read_topics
from tests.chaos.rounds import SOURCE, Site

Body = dict[str, Any]
Headers = Sequence[tuple[str, bytes | None]]
Holds = Callable[[list[Body]], bool]

WAIT_SECONDS = 60.0
_POLL_SECONDS = 0.3
_LARGEST = 32 * 1024 * 1024


def question(name: str, **members: Any) -> Body:
    """An interrupt that anything may answer; `members` in the protocol's own names."""
    return {"id": name, "reason": "tool_call", "message": f"{name}?"} | members


class Hand:
    """Writes events and answers of one site and reads what was published."""

    def __init__(self, site: Site, *, partitioner: str = "murmur2_random") -> None:
        """`partitioner` is librdkafka's; "murmur2_random" puts a key where Java does."""
        self.site = site
        self._producer = Producer(
            {
                "bootstrap.servers": site.bootstrap,
                "message.max.bytes": _LARGEST,
                "linger.ms": 50,  # what is sent at once is one batch
                "partitioner": partitioner,
                "log_level": 2,  # a broker that is away would fill the output
            }
        )

    def send(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = None,
        *,
        partition: int = -1,
        headers: Headers = (),
        timestamp: int = 0,
    ) -> None:
        """One record; `timestamp` 0 means now. Sent for sure once `flush` has returned."""
        self._producer.produce(
            topic, value, key, partition, headers=list(headers), timestamp=timestamp
        )

    def flush(self) -> None:
        """Wait until the broker has everything. Raises AssertionError if it doesn't."""
        left = self._producer.flush(30)
        assert left == 0, f"{left} records not taken"

    def ask(self, thread: str, run: str, *interrupts: Body, **placing: Any) -> None:
        """A run of the thread ends with these interrupts."""
        outcome = {"type": "interrupt", "interrupts": interrupts}
        event = {"type": "RUN_FINISHED", "threadId": thread, "runId": run, "outcome": outcome}
        placing.setdefault("key", thread.encode())
        value = json.dumps(event, ensure_ascii=False).encode()
        self.send(self.site.input_topic, value, **placing)

    def answer(
        self,
        thread: str,
        run: str,
        name: str,
        payload: str | None = "true",
        *,
        by_id: bool = False,
        more: Body | None = None,
        **placing: Any,
    ) -> None:
        """An answer with this payload (JSON text); None cancels."""
        body: Body = {"status": "cancelled" if payload is None else "resolved"} | (more or {})
        if by_id:
            body["approval_id"] = approval_id(thread, run, name)
        else:
            body |= {"source": SOURCE, "thread_id": thread, "run_id": run, "interrupt_id": name}
        text = json.dumps(body, ensure_ascii=False)
        if payload is not None:
            text = f'{text[:-1]}, "payload": {payload}}}'
        placing.setdefault("key", thread.encode())
        self.send(self.site.names["answers"], text.encode(), **placing)

    async def records(self, role: Role) -> list[LogRecord]:
        """What is committed on the topic of that role, in order within a partition."""
        return await read_topics(
            {self.site.names[role]: role}, bootstrap_servers=self.site.bootstrap
        )

    async def written(self, role: Role) -> int:
        """How many records stand on that topic, those of aborted transactions included."""
        topic, count = self.site.names[role], 0
        async with self._looking("read_uncommitted") as consumer:
            partitions = await partitions_of([topic], bootstrap_servers=self.site.bootstrap)
            consumer.assign(partitions)
            await consumer.seek_to_beginning()
            ends = await consumer.end_offsets(partitions)
            while [tp for tp in partitions if await consumer.position(tp) < ends[tp]]:
                batches = await consumer.getmany(timeout_ms=100)
                count += sum(map(len, batches.values()))
        return count

    async def transactions_left(
        self, count: int, role: Role = "resume-commands", *, within: float
    ) -> bool:
        """Whether so many partitions of that topic come to hold an open transaction in time."""
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            if await self._open_transactions(role) == count:
                return True
            await asyncio.sleep(_POLL_SECONDS)
        return False

    async def _open_transactions(self, role: Role) -> int:
        topics = [self.site.names[role]]
        partitions = await partitions_of(topics, bootstrap_servers=self.site.bootstrap)
        async with (
            self._looking("read_committed") as stable,
            self._looking("read_uncommitted") as raw,
        ):
            ends = await stable.end_offsets(partitions)
            return sum(ends[tp] < mark for tp, mark in (await raw.end_offsets(partitions)).items())

    @asynccontextmanager
    async def _looking(self, isolation: str) -> AsyncIterator[AIOKafkaConsumer]:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.site.bootstrap, isolation_level=isolation
        )
        await consumer.start()
        try:
            yield consumer
        finally:
            await consumer.stop()

    async def bodies(self, role: Role) -> list[Body]:
        """The JSON bodies on that topic; tombstones are left out."""
        return [json.loads(r.value) for r in await self.records(role) if r.value is not None]

    async def until(self, role: Role, holds: Holds, within: float = WAIT_SECONDS) -> list[Body]:
        """The bodies on that topic once `holds` of them. Raises AssertionError when it's late."""
        deadline = time.monotonic() + within
        while True:
            bodies = await self.bodies(role)
            if holds(bodies):
                return bodies
            assert time.monotonic() < deadline, (
                f"{role} after {within:.0f} s: {len(bodies)} records"
            )
            await asyncio.sleep(_POLL_SECONDS)

    async def commands(self, count: int, within: float = WAIT_SECONDS) -> list[Body]:
        """The resume commands, once there are so many."""
        return await self.until("resume-commands", lambda found: len(found) >= count, within)

    async def verdicts(self, count: int, within: float = WAIT_SECONDS) -> list[Body]:
        """The verdicts, once there are so many."""
        return await self.until("answer-verdicts", lambda found: len(found) >= count, within)


def approval_id(thread: str, run: str, name: str) -> str:
    """The approval id of that question, computed by the checker's own rule."""
    return make_id("approval", SOURCE, "", thread, run, name)
