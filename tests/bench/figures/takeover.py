"""How long the slots of a killed worker give nothing."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence

from confluent_kafka import Message, Producer

from bridge.core.ids import home_slot
from tests.bench import mix
from tests.bench.figure import Figure, Options, Report, spread
from tests.bench.lab import Topics, broker, make_topics
from tests.bench.pending import fill
from tests.bench.reader import Reader
from tests.bench.worker import all_serve, slots, workers
from tests.chaos.workers import Worker

SLOTS = 4
PENDING = 10_000
SESSION_S = 6.0
MOST_S = SESSION_S + 3.0
PROBE_S = 0.05  # every slot gets an event this often
PATIENCE_S = 60.0


def run(options: Options) -> Report:
    """As many kills as there would be pairs, two workers in turn; the worst counts."""
    with broker() as bootstrap:
        topics = make_topics(bootstrap, SLOTS)
        fill(topics, options.count(PENDING))
        with workers(topics, 2) as both:
            taken = [_kill(topics, both[n % 2], both[1 - n % 2]) for n in range(options.pairs)]
    rows = (
        ("until the last of its slots gave its first output", spread(taken, "s")),
        ("worst", f"{max(taken):.2f} s"),
        ("pending", f"{options.count(PENDING):,} over {SLOTS} slots"),
    )
    return Report(rows, reached=max(taken) <= MOST_S)


def _kill(topics: Topics, victim: Worker, other: Worker) -> float:
    """Seconds from SIGKILL to the last slot's first committed output; both serve again after."""
    _wait_until_shared((victim, other))
    held = sorted(slots(victim))
    reading = Reader(topics.bootstrap, [topics["approvals"]], SLOTS, _thread)
    with reading as reader:
        victim.kill()
        killed = time.perf_counter()
        missing = set(held)
        probes = _Probes(topics)
        while missing:
            if time.perf_counter() - killed > PATIENCE_S:
                raise TimeoutError(f"slots {sorted(missing)} gave nothing")
            probes.send()
            time.sleep(PROBE_S)
            missing -= {home_slot(thread, SLOTS) for thread in probes.sent & reader.seen.keys()}
        first = [
            min(at for thread, at in reader.seen.items() if _is_probe_of(slot, thread, probes))
            for slot in held
        ]
    probes.flush()
    victim.start()
    return max(first) - killed


def _wait_until_shared(both: Sequence[Worker]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not all(all_serve(worker, SLOTS // 2) for worker in both):
        if time.monotonic() > deadline:
            raise TimeoutError("the slots are not shared by two serving workers")
        time.sleep(0.2)


class _Probes:
    """Events sent after the kill: whatever comes of one, the new owner has written."""

    def __init__(self, topics: Topics) -> None:
        self._topic = topics.events
        self._producer = Producer({"bootstrap.servers": topics.bootstrap, "linger.ms": 0})
        self.sent: set[str] = set()

    def flush(self) -> None:
        """Wait until the last ones are there."""
        self._producer.flush(10)

    def send(self) -> None:
        """One to each slot."""
        waiting = set(range(SLOTS))
        while waiting:
            thread = f"probe-{uuid.uuid4().hex[:12]}"
            home = home_slot(thread, SLOTS)
            if home in waiting:
                waiting.remove(home)
                self.sent.add(thread)
                self._producer.produce(self._topic, mix.event(thread), thread, home)
        self._producer.poll(0)


def _is_probe_of(slot: int, thread: str, probes: _Probes) -> bool:
    return thread in probes.sent and home_slot(thread, SLOTS) == slot


def _thread(message: Message) -> str | None:
    value = message.value()
    if value is None:
        return None
    return value.partition(b'"thread_id":"')[2].partition(b'"')[0].decode()


FIGURE = Figure(
    "takeover",
    "takeover after SIGKILL, 10,000 pending, session 6 s: first committed output of every slot "
    "it held",
    "worst of five ≤ session + 3 s",
    run,
)
