"""How long a quiet system takes from an event to its approval, against the least there can be."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable

from confluent_kafka import Message, Producer

from tests.bench import mix
from tests.bench.bare_process import RECORDS
from tests.bench.child import Child
from tests.bench.figure import Figure, Options, Pair, Report, compared, quantile, ratios
from tests.bench.lab import Topics, broker, make_topics
from tests.bench.reader import Reader
from tests.bench.worker import workers

MOST = 2.0
INTERVAL_S = 0.2
WARM = 10
DRAIN_S = 30.0
_BARE = "bare"


def run(options: Options) -> Report:
    """Both by turns in one stretch of time, half an interval apart; pairs are parts of it."""
    with broker() as bootstrap:
        bare = f"bench-{uuid.uuid4().hex[:8]}.{_BARE}"
        topics = make_topics(bootstrap, 1, more=[bare])
        job = {"bootstrap": bootstrap, "topic": bare}
        reading = Reader(bootstrap, [topics["approvals"], bare], 1, _Namer())
        with workers(topics), Child("bare_process", job) as child, reading as reader:
            child.told()
            sent = _send(options.events + WARM, topics, child)
            reader.wait(list(sent), DRAIN_S)
    latencies = {name: 1e3 * (reader.seen[name] - at) for name, at in sent.items()}
    return _report(latencies, options)


def _send(events: int, topics: Topics, child: Child) -> dict[str, float]:
    """When each was begun, by the name that the reader finds it under.

    An event begins when it is meant to be sent, a bare transaction when its process begins it.
    """
    producer = Producer({"bootstrap.servers": topics.bootstrap, "linger.ms": 0})
    begun, sent = time.perf_counter(), {}
    run_name = uuid.uuid4().hex[:8]
    for number in range(events):
        due = begun + number * INTERVAL_S
        _until(due, lambda: producer.poll(0))
        thread = f"{run_name}-{number}"
        sent[f"ours {thread}"] = due
        producer.produce(topics.events, mix.event(thread), thread)
        producer.poll(0)
        _until(due + INTERVAL_S / 2, lambda: producer.poll(0))
        child.tell({"key": thread})
        sent[f"bare {thread}"] = child.told(DRAIN_S)["began"]
    producer.flush(10)
    return sent


def _until(due: float, between: Callable[[], object]) -> None:
    while (left := due - time.perf_counter()) > 0:
        between()
        time.sleep(min(left, 0.02))


class _Namer:
    """Bare transactions by their last record, approvals by the thread inside."""

    def __init__(self) -> None:
        self._records: Counter[bytes] = Counter()

    def __call__(self, message: Message) -> str | None:
        key, value, topic = message.key(), message.value(), message.topic()
        if value is None or key is None or topic is None:
            return None
        if topic.endswith(_BARE):
            self._records[key] += 1
            return f"bare {key.decode()}" if self._records[key] == RECORDS else None
        found = value.partition(b'"thread_id":"')[2].partition(b'"')[0]
        return f"ours {found.decode()}"


def _report(latencies: dict[str, float], options: Options) -> Report:
    ours = [ms for name, ms in latencies.items() if name.startswith("ours")][WARM:]
    bare = [ms for name, ms in latencies.items() if name.startswith("bare")][WARM:]
    size = max(1, options.events // options.pairs)
    rows: list[tuple[str, str]] = []
    reached = True
    for label, q in (("p50", 0.50), ("p99", 0.99)):
        whole = quantile(ours, q) / quantile(bare, q)
        reached = reached and whole <= MOST
        parts: list[Pair] = [
            (quantile(ours[at : at + size], q), quantile(bare[at : at + size], q))
            for at in range(0, size * options.pairs, size)
        ]
        low, high = min(ratios(parts)), max(ratios(parts))
        rows.append((f"{label}, ratio over all {len(ours):,}", f"{whole:.2f} ×"))
        rows.append((f"{label}, ratio over {options.pairs} parts", f"{low:.2f}–{high:.2f} ×"))
        rows.extend(compared(label, parts, "ms", 2)[1:])
    return Report(tuple(rows), reached=reached)


FIGURE = Figure(
    "idle_latency",
    "idle latency event → approval visible to a read_committed reader, 5/s, against a bare "
    "aiokafka transaction of ten records → the same reader",
    "≤ 2 × at p50 and p99",
    run,
)
