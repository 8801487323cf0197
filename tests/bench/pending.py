"""State logs of any number of open runs, written as a slot would have: in transactions, zstd."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from confluent_kafka import Producer
from msgspec.structs import replace

from bridge.core.ids import home_slot
from bridge.core.model import Origin, Run, ThreadKey
from bridge.core.record import Record
from bridge.slot import state_codec as codec
from bridge.slot.engine import Engine
from tests.bench import mix
from tests.bench.desk import make_desk
from tests.bench.lab import Topics

TRANSACTION: Final = 100
"""Runs in one transaction, as at 100 events a cycle."""

NOW_MS: Final = 1_800_000_000_000


def fill(topics: Topics, count: int, prefix: str = "waiting") -> int:
    """Write so many open runs, each to its home partition; the median size of a value in bytes."""
    producer = Producer(
        {
            "bootstrap.servers": topics.bootstrap,
            "transactional.id": f"{topics['state']}-{prefix}-fill",
            "compression.type": "zstd",
            "log_level": 3,  # a fresh broker's coordinator is still loading: retried
        }
    )
    producer.init_transactions(30)
    producer.begin_transaction()
    sizes = []
    for number, (thread, key, value) in enumerate(_runs(topics, count, prefix), start=1):
        producer.produce(topics["state"], value, key, home_slot(thread, topics.partitions))
        producer.poll(0)
        sizes.append(len(value))
        if number % TRANSACTION == 0 and number < count:
            producer.commit_transaction(30)
            producer.begin_transaction()
    producer.commit_transaction(30)
    return sorted(sizes)[len(sizes) // 2]


def _runs(topics: Topics, count: int, prefix: str) -> Iterator[tuple[str, bytes, bytes]]:
    """Thread, key and value of each; only identity differs between them."""
    model = _model_run(topics)
    for number in range(count):
        thread = f"{prefix}-{number:08d}"
        run = replace(model, thread=ThreadKey(mix.SOURCE, "", thread))
        yield thread, codec.run_key(run), codec.encode_run(run, None)


def _model_run(topics: Topics) -> Run:
    """One run, opened by the rules themselves."""
    thread = "model"
    origin = Origin(topics.events, 0, 0, NOW_MS)
    event = Record(mix.small_event(thread), thread.encode(), (), origin)
    work = Engine(make_desk(topics.own, topics.events)).work([event], now=NOW_MS)
    ((_key, value),) = (pair for pair in work.state if pair[0].startswith(codec.RUN_PREFIX))
    assert value is not None
    return codec.decode_run(value)
