"""Full cycles from outside: events out, approvals in, answers out, resume commands in.

The client is C; records are made from templates and read by looking for the thread's number, so
that the generator leaves the cores to the broker and the worker.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass

from confluent_kafka import Consumer, Message, Producer

from tests.bench import mix
from tests.bench.ends import assign_ends
from tests.bench.lab import Topics
from tests.bench.usage import cpu

DIGITS = 7
PATIENCE_S = 60.0  # without any progress


@dataclass(frozen=True, slots=True)
class Load:
    """`cycles` are counted, after `warm` more. At `rate` cycles a second, or (None) as fast as the
    worker takes them with `window` of them under way."""

    cycles: int
    warm: int
    rate: float | None = None
    window: int = 4_000


@dataclass(frozen=True, slots=True)
class Driven:
    """What the counted cycles took: wall seconds, and processor seconds of the worker."""

    cycles: int
    seconds: float
    cpu_seconds: float

    @property
    def per_second(self) -> float:
        return self.cycles / self.seconds

    @property
    def cpu_per_cycle(self) -> float:
        """Microseconds."""
        return 1e6 * self.cpu_seconds / self.cycles


class Generator:
    """Drives one worker process through one load."""

    def __init__(self, topics: Topics, pid: int, load: Load) -> None:
        self._topics = topics
        self._pid = pid
        self._load = load
        self._total = load.warm + load.cycles
        self._name = uuid.uuid4().hex[:8]
        self._marks = [f'"thread_id":{gap}"{self._name}-'.encode() for gap in ("", " ")]
        self._producer = Producer(
            {
                "bootstrap.servers": topics.bootstrap,
                "compression.type": "zstd",
                "linger.ms": 2,
                "partitioner": "murmur2_random",
            }
        )
        self._consumer = self._reader()
        self._answered = bytearray(self._total)
        self._finished = bytearray(self._total)
        self._sent = 0
        self._done = 0

    def _reader(self) -> Consumer:
        consumer = Consumer(
            {
                "bootstrap.servers": self._topics.bootstrap,
                "group.id": f"bench-{self._name}",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 5,
            }
        )
        read = [self._topics[role] for role in ("approvals", "resume-commands")]
        assign_ends(consumer, read, self._topics.partitions)
        return consumer

    def run(self) -> Driven:
        """Raises TimeoutError when nothing moves for a minute."""
        begun = moved = time.perf_counter()
        counted_from: tuple[float, float] | None = None
        while self._done < self._total:
            self._send_events(begun)
            before = self._done
            for message in self._consumer.consume(1_000, 0.002):
                self._take(message)
            now = time.perf_counter()
            moved = now if self._done > before else moved
            if now - moved > PATIENCE_S:
                raise TimeoutError(f"{self._done} of {self._total} cycles, then nothing")
            if counted_from is None and self._done >= self._load.warm:
                counted_from = now, cpu(self._pid)
                first = self._done
        assert counted_from is not None
        seconds, used = time.perf_counter() - counted_from[0], cpu(self._pid) - counted_from[1]
        self._consumer.close()
        return Driven(self._done - first, seconds, used)

    def _send_events(self, begun: float) -> None:
        if self._load.rate is None:
            until = self._done + self._load.window
        else:
            until = int((time.perf_counter() - begun) * self._load.rate)
        for number in range(self._sent, min(until, self._total)):
            thread = f"{self._name}-{number:0{DIGITS}d}"
            self._producer.produce(self._topics.events, mix.event(thread), thread)
        self._sent = max(self._sent, min(until, self._total))
        self._producer.poll(0)

    def _take(self, message: Message) -> None:
        value, number = message.value(), self._number(message.value())
        if value is None or number is None:
            return
        if message.topic() == self._topics["approvals"]:
            if not self._answered[number]:
                self._answered[number] = 1
                thread = f"{self._name}-{number:0{DIGITS}d}"
                self._producer.produce(self._topics["answers"], mix.answer(thread), thread)
        elif not self._finished[number]:
            self._finished[number] = 1
            self._done += 1

    def _number(self, value: bytes | None) -> int | None:
        """Which of our threads a record is about."""
        for mark in self._marks if value else ():
            found = value.find(mark) if value else -1
            if value and found >= 0:
                at = found + len(mark)
                return int(value[at : at + DIGITS])
        return None
