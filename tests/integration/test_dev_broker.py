"""The development broker: it serves, it survives what a crash does to it, it leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import NewTopic

from bridge.demo.broker import BrokerError, DevBroker
from tests.topics import MakeTopics, create_topics

pytestmark = pytest.mark.broker


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def write(bootstrap: str, topic: str, value: bytes) -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
        await producer.send_and_wait(topic, value, partition=0)


async def read_all(bootstrap: str, topic: str) -> list[bytes]:
    partition = TopicPartition(topic, 0)
    async with AIOKafkaConsumer(bootstrap_servers=bootstrap) as consumer:
        consumer.assign([partition])
        await consumer.seek_to_beginning(partition)
        end = (await consumer.end_offsets([partition]))[partition]
        return [(await consumer.getone()).value for _ in range(end)]


async def test_topics_of_two_calls_do_not_meet(make_topics: MakeTopics, bootstrap: str) -> None:
    """Each role gets a topic of its own that can be written and read at once."""
    names = await make_topics("one", "two", partitions=2)
    await write(bootstrap, names["one"], b"first")
    assert await read_all(bootstrap, names["one"]) == [b"first"]
    assert await read_all(bootstrap, names["two"]) == []


async def test_records_survive_sigkill_and_restart_on_the_same_port() -> None:
    """What was acknowledged before a SIGKILL is read after the restart, under the same address."""
    with DevBroker() as broker:
        before = broker.bootstrap
        await create_topics(before, [NewTopic("kept", 1, 1)])
        await write(before, "kept", b"value")
        broker.kill()
        assert broker.restart() == before
        assert await read_all(before, "kept") == [b"value"]


def test_stop_ends_even_a_paused_broker_and_removes_its_data() -> None:
    """SIGSTOP must not keep `stop` from ending the process and removing the directory."""
    broker = DevBroker()
    broker.start()
    pid, directory = broker.pid, broker.log.parent
    broker.pause()
    broker.stop()
    assert not directory.exists()
    assert not alive(pid)


def test_a_parent_that_is_killed_takes_its_broker_along() -> None:
    """A crashed test run or demo leaves neither a broker process nor its directory."""
    script = (
        "import time; from bridge.demo.broker import DevBroker; broker = DevBroker(); "
        "broker.start(); print(broker.pid, broker.log.parent, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        pid, directory = run.stdout.readline().split()
        run.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 20
    while Path(directory).exists() or alive(int(pid)):
        assert time.monotonic() < deadline, "the broker outlived its parent"
        time.sleep(0.05)


def test_a_broker_that_cannot_start_says_why() -> None:
    """A setting that Kafka refuses ends in an error that carries Kafka's own words."""
    broker = DevBroker({"log.cleaner.threads": "many"})
    with pytest.raises(BrokerError, match=r"log\.cleaner\.threads"):
        broker.start()
