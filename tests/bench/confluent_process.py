"""A child that does a slot's transactions with confluent-kafka, to compare with.

Mode `bare` writes each input back as one record. Mode `decide` runs our own decoding and decisions
in the loop and writes the same outputs as a slot. Both write the input positions into the same
transaction, as records, and keep no other promise: no fence, no deadline, no timers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from confluent_kafka import Consumer, Message, Producer, TopicPartition

from bridge.core.model import Origin
from bridge.core.record import Record
from bridge.slot import state_codec as codec
from bridge.slot.engine import Engine
from tests.bench.child import hear, job, say
from tests.bench.desk import make_desk
from tests.bench.usage import own_cpu

Headers = list[tuple[str, str | bytes | None]]

Written = list[tuple[str, bytes | None, bytes | None, Headers]]
"""Topic, key, value, headers of what a transaction holds."""

Work = Callable[[Sequence[Message]], tuple[Written, int]]
"""Inputs of one transaction to its records, and how many answers were accepted (-1: not known)."""


def _bare(given: dict[str, Any]) -> Work:
    topic, state = given["topics"]["approvals"], given["topics"]["state"]

    def work(messages: Sequence[Message]) -> tuple[Written, int]:
        positions: Written = [
            (state, codec.position_key(*place), codec.encode_position(offset), [])
            for place, offset in _positions(messages).items()
        ]
        return [*((topic, m.key(), m.value(), []) for m in messages), *positions], -1

    return work


def _decide(given: dict[str, Any]) -> Work:
    topics = given["topics"]
    engine = Engine(make_desk(topics, given["events"]))
    engine.restored()

    def work(messages: Sequence[Message]) -> tuple[Written, int]:
        now = time.time_ns() // 1_000_000
        done = engine.work([*map(_record, messages)], _positions(messages), now)
        engine.committed(done, now)
        written: Written = [(topics[o.topic], o.key, o.value, [*o.headers]) for o in done.records]
        return written, done.counts["answers", "accepted"]

    return work


def _positions(messages: Sequence[Message]) -> dict[tuple[str, int], int]:
    return {(m.topic() or "", 0): (m.offset() or 0) + 1 for m in messages}


def _record(message: Message) -> Record:
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None
    assert partition is not None
    assert offset is not None
    origin = Origin(topic, partition, offset, message.timestamp()[1])
    # The mix has no headers: nothing to convert
    return Record(message.value(), message.key(), (), origin)


class Loop:
    """Consume, work, write, commit."""

    def __init__(self, given: dict[str, Any], work: Work) -> None:
        self._work = work
        self._batch = given["batch"]
        self._consumer = Consumer(
            {
                "bootstrap.servers": given["bootstrap"],
                "group.id": "unused",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
            }
        )
        inputs = (given["events"], given["topics"]["answers"])
        self._consumer.assign([TopicPartition(topic, 0, 0) for topic in inputs])
        self._producer = Producer(
            {
                "bootstrap.servers": given["bootstrap"],
                "transactional.id": f"{given['topics']['state']}-compared",
                "compression.type": "zstd",
                "log_level": 3,  # a fresh broker's coordinator is still loading: retried
            }
        )
        self._producer.init_transactions(30)

    def run(self, wanted: int) -> int:
        """Transactions until so many inputs are through; the accepted answers."""
        accepted = 0
        while wanted > 0:
            messages = self._consumer.consume(min(self._batch, wanted), 1.0)
            if messages:
                accepted += self._transaction(messages)
                wanted -= len(messages)
        return accepted

    def _transaction(self, messages: Sequence[Message]) -> int:
        for message in messages:
            if (error := message.error()) is not None:
                raise RuntimeError(str(error))
        self._producer.begin_transaction()
        written, accepted = self._work(messages)
        for topic, key, value, headers in written:
            self._producer.produce(topic, value, key, 0, headers=headers)
        self._producer.commit_transaction(30)
        return accepted


def _main() -> None:
    given = job()
    loop = Loop(given, {"bare": _bare, "decide": _decide}[given["mode"]](given))
    say({"ready": True})
    before = own_cpu()
    while wanted := hear().get("inputs", 0):
        accepted = loop.run(wanted)
        used = own_cpu()
        say({"cpu": used - before, "inputs": wanted, "accepted": max(accepted, -1)})
        before = used


if __name__ == "__main__":
    _main()
