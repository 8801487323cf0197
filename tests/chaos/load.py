"""Load that misbehaves like the world does: bounded, seeded, and told from a plan.

Producers retry and repeat, answers come early, late, twice, wrong and off their partition. What it
did is in its report; whether the bridge was right, the checker tells from the topics alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError

from bridge.demo.check.ids import make_id
from bridge.demo.check.reader import partitions_of
from tests.chaos.plan import Cycle, Keying, Reply, cycles
from tests.chaos.shapes import (
    bad_answer,
    bad_record,
    finished,
    in_future,
    resumed_elsewhere,
    run_error,
)


@dataclass(slots=True)
class LoadReport:
    """What was sent, by kind, and when the bridge was seen to work (time.monotonic())."""

    seed: int
    sent: Counter[str] = field(default_factory=Counter)
    progress: list[float] = field(default_factory=list)
    unsure: int = 0  # sends without confirmation: written or not
    closed: int = 0  # runs seen to close
    given_up: int = 0  # cycles that waited in vain

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.sent.items()))
        return (
            f"seed {self.seed}: {kinds}; {self.closed} runs closed, "
            f"{self.given_up} cycles gave up, {self.unsure} sends unsure"
        )


async def run_load(
    bootstrap: str,
    names: Mapping[str, str],
    input_topic: str,
    source: str,
    seed: int,
    cycles: int,
    rate: float,
    stop_after: float,
    patience: float = 60.0,
) -> LoadReport:
    """Play `cycles` cycles, `rate` started a second, and give up after `stop_after` seconds.

    A cycle gives up on its run after `patience` seconds without what it waits for. `names` maps at
    least the roles `answers` and `approvals` to topics; with `operations`, runs are withdrawn and
    expired too. Survives brokers that go away. Returns when every cycle has ended, with nothing of
    its own left running.
    """
    report = LoadReport(seed)
    async with (
        _producing(bootstrap) as producer,
        _watching(bootstrap, names["approvals"], report) as board,
    ):
        load = _Load(producer, board, names, input_topic, source, report, patience)
        await load.play(seed, cycles, rate, time.monotonic() + stop_after)
    return report


class Board:
    """The approvals as a read_committed reader last saw them."""

    def __init__(self, report: LoadReport) -> None:
        self.latest: dict[str, dict[str, Any]] = {}
        self._report = report
        self._changed = asyncio.Condition()

    def outcome(self, approval_id: str) -> str | None:
        return self.latest.get(approval_id, {}).get("run_outcome")

    async def until(self, holds: Callable[[], bool], deadline: float) -> bool:
        """Wait until `holds()`; False when `deadline` (time.monotonic()) comes first."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())), self._changed:
                await self._changed.wait_for(holds)
        return holds()

    async def read(self, consumer: AIOKafkaConsumer) -> None:
        """Follow the topic until cancelled."""
        while True:
            try:
                batches = await consumer.getmany(timeout_ms=100)
            except KafkaError:
                await asyncio.sleep(0.2)
                continue
            if batches:
                await self._take([record for batch in batches.values() for record in batch])

    async def _take(self, records: list[Any]) -> None:
        for record in records:
            key = (record.key or b"").decode()
            if record.value is not None:
                self.latest[key] = json.loads(record.value)
            else:
                self.latest.pop(key, None)
        self._report.progress.append(time.monotonic())
        async with self._changed:
            self._changed.notify_all()


class _Load:
    """One load: sends what the plan says, at the moments the board allows."""

    def __init__(
        self,
        producer: AIOKafkaProducer,
        board: Board,
        names: Mapping[str, str],
        events: str,
        source: str,
        report: LoadReport,
        patience: float,
    ) -> None:
        self._patience = patience
        self._producer = producer
        self._board = board
        self._answers = names["answers"]
        self._operations = names.get("operations")
        self._events = events
        self._source = source
        self._report = report

    async def play(self, seed: int, count: int, rate: float, deadline: float) -> None:
        """Start cycles at the rate; a cycle on a used thread waits as its plan says."""
        start = time.monotonic()
        before: Cycle | None = None
        async with asyncio.TaskGroup() as tasks:
            for number, cycle in enumerate(cycles(seed, count)):
                due = start + number / rate
                await asyncio.sleep(max(0.0, min(due, deadline) - time.monotonic()))
                if time.monotonic() >= deadline:
                    break
                chance = Random(f"{seed}/{number}")
                tasks.create_task(self._cycle(cycle, before, chance, deadline))
                before = cycle

    async def _cycle(
        self, cycle: Cycle, before: Cycle | None, chance: Random, deadline: float
    ) -> None:
        deadline = min(deadline, time.monotonic() + self._patience)
        if cycle.follows == "a closed run" and before is not None:
            await self._closed(before, deadline)
        for _ in range(cycle.bad):
            await self._bad(cycle, chance)
        early = [i for i, reply in enumerate(cycle.replies) if reply.manner == "early"]
        for index in early:
            await self._answer(cycle, index, "early")
        await self._ask(cycle)
        if not await self._turn(cycle, deadline):
            self._report.given_up += 1
            return
        for index in cycle.order:
            if index not in early and not await self._reply(cycle, index, deadline):
                self._report.given_up += 1
                return
        if not await self._closed(cycle, deadline):
            self._report.given_up += 1
            return
        self._report.closed += 1
        if cycle.late:
            await self._answer(cycle, 0, "late", choice=1 - cycle.replies[0].choice)

    async def _ask(self, cycle: Cycle) -> None:
        expires = [
            None if reply.expires_in is None else in_future(reply.expires_in)
            for reply in cycle.replies
        ]
        value = finished(cycle.thread, cycle.run, cycle.questions, expires)
        key = _key(cycle.keying, cycle.thread)
        await self._send("event", self._events, key, value)
        if cycle.repeated:
            await self._send("repeated event", self._events, key, value)
        if cycle.conflicting:
            other = value.replace(b'"reason": "', b'"reason": "other-', 1)
            await self._send("conflicting event", self._events, key, other)

    async def _turn(self, cycle: Cycle, deadline: float) -> bool:
        """What somebody else does to the published run; False if it was not published in time."""
        if cycle.turn == "none":
            return True
        approval_id = self._approval_id(cycle, 0)
        if not await self._board.until(lambda: approval_id in self._board.latest, deadline):
            return False
        key = cycle.thread.encode()
        if cycle.turn == "resumed elsewhere":
            value = resumed_elsewhere(cycle.thread, cycle.questions)
            await self._send(cycle.turn, self._events, key, value)
        elif cycle.turn == "run error":
            await self._send(cycle.turn, self._events, key, run_error())
        elif self._operations is not None:
            body = {"op": cycle.turn, "approval_id": approval_id, "reason": "load", "by": "load"}
            value = json.dumps(body).encode()
            await self._send(cycle.turn, self._operations, _key(cycle.keying, cycle.thread), value)
        return True

    async def _reply(self, cycle: Cycle, index: int, deadline: float) -> bool:
        """Answer one interrupt once it is published; False if it was not in time."""
        approval_id = self._approval_id(cycle, index)
        if not await self._board.until(lambda: approval_id in self._board.latest, deadline):
            return False
        reply = cycle.replies[index]
        question = cycle.questions[index]
        if reply.manner == "invalid_first" and question.invalid is not None:
            await self._answer(cycle, index, "invalid", payload=question.invalid)
        if reply.manner == "cancelled":
            await self._answer(cycle, index, "cancelled")
        elif reply.manner != "never":
            await self._answer(cycle, index, "answer")
        if reply.manner == "twice":
            await self._answer(cycle, index, "repeated answer")
        if reply.manner == "contradicted":
            await self._answer(cycle, index, "contradicting", choice=1 - reply.choice)
        return True

    async def _answer(
        self,
        cycle: Cycle,
        index: int,
        kind: str,
        *,
        payload: str | None = None,
        choice: int | None = None,
    ) -> None:
        reply = cycle.replies[index]
        text = payload or cycle.questions[index].valid[reply.choice if choice is None else choice]
        body = self._named(cycle, index, reply, kind)
        value = json.dumps(body, ensure_ascii=False)
        if body["status"] == "resolved":
            value = f'{value[:-1]}, "payload": {text}}}'
        await self._send(kind, self._answers, _key(reply.keying, cycle.thread), value.encode())

    def _named(self, cycle: Cycle, index: int, reply: Reply, kind: str) -> dict[str, Any]:
        """The answer's own members and its question's name, one way or the other."""
        status = "cancelled" if kind == "cancelled" else "resolved"
        body: dict[str, Any] = {"status": status, "answered_by": "load", "comment": kind}
        if reply.by_id:
            return body | {"approval_id": self._approval_id(cycle, index)}
        return body | {
            "source": self._source,
            "thread_id": cycle.thread,
            "run_id": cycle.run,
            "interrupt_id": cycle.questions[index].interrupt["id"],
        }

    async def _bad(self, cycle: Cycle, chance: Random) -> None:
        if chance.random() < 0.3:
            key = _key(chance.choice(("thread", "none", "foreign")), cycle.thread)
            await self._send("bad answer", self._answers, key, bad_answer(chance))
        else:
            bad = bad_record(chance, cycle.thread)
            await self._send("bad event", self._events, bad.key, bad.value)

    async def _closed(self, cycle: Cycle, deadline: float) -> bool:
        approval_id = self._approval_id(cycle, 0)
        return await self._board.until(
            lambda: self._board.outcome(approval_id) is not None, deadline
        )

    def _approval_id(self, cycle: Cycle, index: int) -> str:
        interrupt = cycle.questions[index].interrupt["id"]
        return make_id("approval", self._source, "", cycle.thread, cycle.run, interrupt)

    async def _send(self, kind: str, topic: str, key: bytes | None, value: bytes | None) -> None:
        self._report.sent[kind] += 1
        if key is None and value is None:
            key = b""  # this client refuses a record without both; others are tried elsewhere
        try:
            await self._producer.send_and_wait(topic, value, key)
        except KafkaError:
            self._report.unsure += 1


def _key(keying: Keying, thread: str) -> bytes | None:
    return {"thread": thread.encode(), "none": None, "foreign": b"not-" + thread.encode()}[keying]


@contextlib.asynccontextmanager
async def _producing(bootstrap: str) -> AsyncIterator[AIOKafkaProducer]:
    # Not idempotent on purpose: a retry that repeats a record is part of the load.
    producer = AIOKafkaProducer(
        bootstrap_servers=bootstrap, acks="all", request_timeout_ms=15_000, retry_backoff_ms=100
    )
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


@contextlib.asynccontextmanager
async def _watching(bootstrap: str, topic: str, report: LoadReport) -> AsyncIterator[Board]:
    board = Board(report)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        enable_auto_commit=False,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        fetch_max_wait_ms=50,
    )
    await consumer.start()
    reading: asyncio.Task[None] | None = None
    try:
        consumer.assign(await partitions_of([topic], bootstrap_servers=bootstrap))
        reading = asyncio.create_task(board.read(consumer))
        yield board
    finally:
        if reading is not None:
            reading.cancel()
            await asyncio.wait([reading])
        await consumer.stop()
