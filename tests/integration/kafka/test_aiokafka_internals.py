"""Each patch of the pinned client, beside what the client does without it."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import time

import aiokafka.producer.sender as aiokafka_sender
import pytest
from aiokafka.errors import KafkaError, NotEnoughReplicasError, NotLeaderForPartitionError
from aiokafka.structs import TopicPartition

from bridge.demo.broker import DevBroker
from bridge.errors import Fenced, LoginFailed, TransactionFailed, Unreachable
from bridge.kafka.aiokafka_internals import (
    RETIRE_AT_SEQUENCE,
    TRANSACTION_BACKOFF,
    UnsupportedClient,
    highest_sequence,
    muted_retries,
    prepare,
    require_supported,
)
from bridge.kafka.clients import (
    DATA_CONSUMER,
    kill,
    make_consumer,
    make_producer,
    start_consumer,
    start_producer,
)
from bridge.kafka.transaction import SlotProducer
from bridge.records.outgoing import Outgoing
from bridge.records.topics import OUTPUTS
from tests.integration.kafka.slots import Slot, approval, state


def test_optimized_python_is_refused() -> None:
    """aiokafka keeps its transaction states with assert: -O would let a broken one go on."""
    run = subprocess.run(
        [sys.executable, "-O", "-c", "import bridge.kafka.aiokafka_internals as a; a.prepare()"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 1
    assert "UnsupportedClient" in run.stderr


def test_another_client_version_is_refused() -> None:
    """The patches are proved on one version; the message names both."""
    with pytest.raises(UnsupportedClient, match=r"0\.14\.0; found 0\.14\.1"):
        require_supported(asserts_on=True, version="0.14.1")


# --- R5: hard kills -----------------------------------------------------------------------------


async def test_a_kill_during_the_start_leaves_nothing(slot: Slot, broker: DevBroker) -> None:
    """A start that a paused broker keeps waiting ends in time, with all it had begun."""
    tasks = asyncio.all_tasks()
    producer = make_producer(slot.client, slot.transactional_id)
    consumer = make_consumer(slot.client, DATA_CONSUMER)
    broker.pause()
    try:
        for starting in (start_producer(producer, 0.5), start_consumer(consumer, 0.5)):
            with pytest.raises(Unreachable, match=r"within 0\.5 s"):
                await starting
        await asyncio.sleep(0)  # a connection that was never used goes with its last reference
        assert asyncio.all_tasks() == tasks
    finally:
        broker.cont()


async def test_a_killed_consumer_leaves_nothing(slot: Slot, broker: DevBroker) -> None:
    """A consumer with a fetch under way at a paused broker is gone within its second."""
    tasks = asyncio.all_tasks()
    consumer = make_consumer(slot.client, DATA_CONSUMER)
    await start_consumer(consumer)
    consumer.assign([slot.state])
    consumer.seek(slot.state, 0)
    assert await consumer.getmany(slot.state, timeout_ms=200) == {}
    broker.pause()
    try:
        started = time.monotonic()
        await kill(consumer)
        assert time.monotonic() - started < 2
        assert asyncio.all_tasks() == tasks
    finally:
        broker.cont()


async def test_nothing_is_reported_for_what_a_kill_gave_up(
    slot: Slot, caplog: pytest.LogCaptureFixture
) -> None:
    """Exceptions nobody waits for any more are read, so asyncio has no fault to report."""
    async with slot.opened() as old, slot.opened():
        with pytest.raises(Fenced):
            await old.commit([state(b"late"), approval(b"late")])
    del old
    gc.collect()  # the report comes when the future is collected
    assert not [r for r in caplog.records if "never retrieved" in r.getMessage()]


# --- R12: back-off and expected warnings --------------------------------------------------------


async def any_waits(producer: SlotProducer, seconds: float, transactions: int) -> bool:
    """Whether one of so many transactions back to back takes longer; each has four markers."""
    records = [Outgoing(role, b"key", b"value") for role in OUTPUTS]
    for _ in range(transactions):
        started = time.monotonic()
        await producer.commit(records)
        if time.monotonic() - started > seconds:
            return True
    return False


async def test_the_back_off_between_transactions_is_ours(
    slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AddPartitions is refused until the markers before are written; then this wait counts.

    How often depends on the broker's load: 0 to 70 in 100. Three seconds are no load's doing.
    """
    async with slot.opened() as producer:
        monkeypatch.setattr(aiokafka_sender, "BACKOFF_OVERRIDE", 3.0)
        assert await any_waits(producer, 2.9, 1_000)
        prepare()
        assert aiokafka_sender.BACKOFF_OVERRIDE == TRANSACTION_BACKOFF
        assert not await any_waits(producer, 2.9, 100)


@pytest.mark.parametrize(
    ("answer", "muted"),
    [
        (NotEnoughReplicasError, 1),
        ("Unable to verify the partition has been added to the transaction.", 1),
        (NotLeaderForPartitionError, 0),
    ],
)
def test_expected_retries_are_counted_instead_of_logged(
    answer: object, muted: int, caplog: pytest.LogCaptureFixture
) -> None:
    """The broker's verification of a first write is no news; any other retry is."""
    prepare()
    before = muted_retries()
    text = "Got error produce response on topic-partition %s, retrying. Error: %s"
    aiokafka_sender.log.warning(text, TopicPartition("state", 0), answer)
    assert muted_retries() == before + muted
    assert len(caplog.records) == 1 - muted


# --- R16: the reason behind "Unable to bootstrap" -----------------------------------------------


async def test_a_refused_login_says_why(bootstrap: str) -> None:
    """The exception of the client says only that it could not bootstrap; ours has the reason."""
    sasl = {
        "bootstrap_servers": bootstrap,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "nobody",
        "sasl_plain_password": "secret-word",
    }
    consumer = make_consumer(sasl, DATA_CONSUMER)
    with pytest.raises(LoginFailed, match="IllegalSaslState") as caught:
        await start_consumer(consumer)
    assert "Unable to bootstrap" in str(caught.value.__cause__)
    assert "Sasl" not in str(caught.value.__cause__)
    assert "secret-word" not in str(caught.value)


async def test_reasons_of_starts_side_by_side_do_not_mix(bootstrap: str) -> None:
    """A worker opens many clients at once; each is told its own reason."""
    closed = [f"127.0.0.1:{port}" for port in (1, 2)]
    consumers = [make_consumer({"bootstrap_servers": address}, DATA_CONSUMER) for address in closed]
    errors = await asyncio.gather(*map(start_consumer, consumers), return_exceptions=True)
    for error, mine, other in zip(errors, closed, reversed(closed), strict=True):
        assert isinstance(error, Unreachable)
        assert f'Unable connect to "{mine}"' in str(error)
        assert other not in str(error)


# --- Sequence numbers ---------------------------------------------------------------------------


async def test_sequence_numbers_wrap_to_negative(slot: Slot) -> None:
    """Off: past 2^31 records of a partition the client sends a number that the broker refuses."""
    async with slot.raw() as producer:
        producer._txn_manager._sequence_numbers[slot.state] = 2**31 - 1
        await producer.begin_transaction()
        await producer.send_and_wait(slot.state.topic, b"last", partition=0)
        assert highest_sequence(producer) == -(2**31)
        with pytest.raises(KafkaError):
            await producer.send_and_wait(slot.state.topic, b"wrapped", partition=0)


async def test_a_producer_retires_long_before(slot: Slot) -> None:
    """On: half way to the wrap a commit asks for a new producer, and that one begins at zero.

    The way is one record here.
    """
    assert RETIRE_AT_SEQUENCE == 2**31 // 2
    async with slot.opened(retire_at=1) as producer:
        await producer.commit([state(b"a")])
        with pytest.raises(TransactionFailed, match="open the slot again"):
            await producer.commit([state(b"b")])
        assert producer.life == "dead"
    async with slot.opened(retire_at=1) as successor:
        await successor.commit([state(b"c")])
