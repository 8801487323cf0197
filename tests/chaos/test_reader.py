"""The checker's reader on a real broker: all that is committed, nothing else, and it ends."""

from __future__ import annotations

import random

import pytest
from aiokafka import AIOKafkaProducer

from bridge.audit.log import LogRecord, Role
from bridge.audit.reader import read_topics
from tests.chaos import load
from tests.topics import MakeTopics


async def test_only_what_is_committed_is_read(make_topics: MakeTopics, bootstrap: str) -> None:
    """Aborted records are unseen, nulls and headers kept, and a marker at the end ends nothing."""
    names = await make_topics("approvals", "answers", partitions=2)
    topic = names["approvals"]
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=topic)
    await producer.start()
    try:
        async with producer.transaction():
            await producer.send_and_wait(topic, b"{}", b"a", partition=0, headers=[("h", b"1")])
            await producer.send_and_wait(topic, None, b"a", partition=1)
        await producer.begin_transaction()
        await producer.send_and_wait(topic, b"aborted", b"b", partition=0)
        await producer.abort_transaction()
    finally:
        await producer.stop()
    roles: dict[str, Role] = {topic: "approvals", names["answers"]: "answers"}
    records = await read_topics(roles, bootstrap_servers=bootstrap, timeout=30.0)
    kept = [(r.role, r.partition, r.offset, r.key, r.value, r.headers) for r in sorted(records)]
    assert kept == [
        ("approvals", 0, 0, b"a", b"{}", (("h", b"1"),)),
        ("approvals", 1, 0, b"a", None, ()),
    ]
    assert all(isinstance(record, LogRecord) and record.topic == topic for record in records)


async def test_a_missing_topic_is_named(bootstrap: str) -> None:
    """An empty log because of a wrong name would pass every rule."""
    with pytest.raises(LookupError, match="no-such-topic"):
        await read_topics({"no-such-topic": "answers"}, bootstrap_servers=bootstrap)


async def test_load_ends_in_time_without_a_bridge(make_topics: MakeTopics, bootstrap: str) -> None:
    """Nobody publishes approvals: events are sent, cycles give up, nothing hangs."""
    names = await make_topics("approvals", "answers", "events", partitions=2)
    seed = random.randrange(1_000_000)
    report = await load.run_load(
        *(bootstrap, names, {"agents": names["events"]}, seed),
        cycles=20,
        rate=20.0,
        stop_after=3.0,
    )
    assert report.sent["ag-ui", "event"] > 0, f"seed {seed}"
    assert (report.closed.total(), report.unsure) == (0, 0), f"seed {seed}"
    assert report.given_up.total() == 20, f"seed {seed}: {report}"
    roles: dict[str, Role] = {names["events"]: "input", names["answers"]: "answers"}
    records = await read_topics(roles, bootstrap_servers=bootstrap)
    assert len(records) == sum(report.sent.values())
