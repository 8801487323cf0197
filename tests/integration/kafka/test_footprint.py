"""A worker holds as much after any number of failures as before: only the log may grow."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bridge.config import load
from bridge.demo.broker import DevBroker
from bridge.kafka.aiokafka_internals import MOST_REASONS, captured_reasons, prepare
from bridge.kafka.post import post
from bridge.kafka.tenure import Tenure
from bridge.kafka.worker import Worker
from bridge.observe.logs import Repeats
from bridge.records.topics import Topics
from tests.chaos.rounds import Site, build_site
from tests.integration.kafka.deployment import (
    QUICK,
    Deployment,
    at_home,
    eventually,
    question,
    until,
)
from tests.integration.kafka.footprint import Footprint, tracing

AWAY = float(os.environ.get("BRIDGE_TEST_AWAY_SECONDS", "600"))
"""How long the long test leaves a worker without a broker."""

SLOTS = 8
MOST_LINES = 2.0  # a second; a day of it takes some 40 MB

client_log = logging.getLogger("aiokafka.test")


class Lines(logging.Handler):
    """Counts what would stand in the log of a worker, and keeps none of it."""

    def __init__(self) -> None:
        super().__init__()
        self.addFilter(Repeats())
        self.count: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        self.count[f"{record.name}: {record.msg}"] += 1


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Lines]:
    """The log of this process; the suite, which keeps every record for its report, hears none."""
    monkeypatch.setattr(type(caplog.handler), "emit", lambda _handler, _record: None)
    handler = Lines()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)


async def test_what_is_logged_after_a_start_is_not_kept() -> None:
    """A client's tasks inherit the context of its start, and warn for as long as they live."""
    warn = asyncio.Event()

    async def live_on() -> None:
        await warn.wait()
        for number in range(1_000):
            client_log.warning("attempt %d", number)

    prepare()
    with captured_reasons() as reasons:
        client_log.warning("refused")
        alive = asyncio.create_task(live_on())
        assert list(reasons) == ["refused"]
    warn.set()
    await alive
    assert list(reasons) == []


async def test_the_reasons_of_one_start_are_bounded() -> None:
    """Attempts that fail alike are one reason; of those that differ the last ones are told."""
    prepare()
    with captured_reasons() as reasons:
        for number in range(1_000):
            client_log.warning("the same")
            client_log.warning("attempt %d", number)
        told = list(reasons)
    assert len(told) == MOST_REASONS
    assert "attempt 999" in told


@pytest.mark.parametrize(
    "rebuilds", [200, pytest.param(10_000, marks=pytest.mark.long)], ids=["200", "10000"]
)
async def test_rebuilds_leave_nothing(rebuilds: int, lines: Lines) -> None:
    """A slot that nobody lets in opens again and again."""
    site = nowhere(1)
    async with site.running(times=replace(QUICK, backoff=(0.0, 0.0))) as slot:

        async def after(count: float) -> Footprint:
            await until(lambda: rebuilt(site) >= count, within=1_800)
            return Footprint.now()

        with tracing():
            before = await after(50)
            later = await after(50 + rebuilds)
        assert slot.error is not None
    assert later.objects - before.objects < 500
    assert later.traced - before.traced < 100_000
    assert later.handles - before.handles <= 2
    assert later.tasks - before.tasks <= 4


async def test_a_tenure_that_failed_is_gone_while_the_next_one_opens(lines: Lines) -> None:
    """Its ledger may be most of the worker's memory, and what ended it is shown for long."""
    knocked = asyncio.Event()
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # without listen(): refused
        site = nowhere(closed.getsockname()[1])
        async with site.running(times=replace(QUICK, backoff=(0.1, 0.1))) as slot:
            await until(lambda: rebuilt(site) >= 2)
            closed.listen()
            asyncio.get_running_loop().add_reader(closed, knocked.set)
            await asyncio.wait_for(knocked.wait(), 10)  # and nobody answers: it opens for long
            asyncio.get_running_loop().remove_reader(closed)
            await asyncio.sleep(0.5)
            assert slot.error is not None
            assert tenures() == 1


def tenures() -> int:
    gc.collect()
    return sum(isinstance(each, Tenure) for each in gc.get_objects())


def nowhere(port: int) -> Deployment:
    topics = Topics.under("")
    return Deployment(f"127.0.0.1:{port}", "app", topics, {"events": "earliest"})


def rebuilt(site: Deployment) -> float:
    count = site.metrics.registry.get_sample_value(
        "interrupt_bridge_rebuilds_total", {"cause": "unreachable"}
    )
    return count or 0.0


@pytest.mark.parametrize(
    "seconds", [30.0, pytest.param(AWAY, marks=pytest.mark.long)], ids=["short", "long"]
)
async def test_a_worker_without_a_broker_stays_as_it_is(
    seconds: float, bootstrap: str, broker: DevBroker, tmp_path: Path, lines: Lines
) -> None:
    """Eight slots, some at work when the broker dies, probed and scraped all the time: memory,
    objects, handles and tasks stay, and the log says what is wrong without filling a disk."""
    site = await build_site(bootstrap, tmp_path, slots=SLOTS)
    async with working(site) as port:
        await eventually(lambda: served(port), SLOTS.__eq__, within=60)
        for slot in range(SLOTS):
            thread = at_home(slot, SLOTS)
            await post(client(site), site.input_topic, thread.encode(), question(thread), slot)
        await asyncio.to_thread(broker.kill)
        try:
            with tracing():
                await probed(port, 15)  # until connections, back-offs and caches are as they stay
                before, said = Footprint.now(), lines.count.total()
                await probed(port, seconds)
                after, said = Footprint.now(), lines.count.total() - said
        finally:
            await asyncio.to_thread(broker.restart)
        await eventually(lambda: served(port), SLOTS.__eq__, within=90)
    print(before, after, said, lines.count, sep="\n")
    assert after.traced - before.traced < 100_000
    assert after.objects - before.objects < 5_000
    assert after.resident - before.resident < 8_000_000
    assert after.handles - before.handles <= SLOTS
    assert after.tasks - before.tasks <= 2 * SLOTS
    assert said / seconds < MOST_LINES


def client(site: Site) -> dict[str, str]:
    return {"bootstrap_servers": site.bootstrap}


@asynccontextmanager
async def working(site: Site) -> AsyncIterator[int]:
    """A worker in this process; the port of its probes."""
    worker = Worker(load(site.config))
    task = asyncio.create_task(worker.run())
    try:
        await until(lambda: worker.port is not None)
        yield worker.port or 0
    finally:
        worker.stop()
        await task


async def probed(port: int, seconds: float) -> None:
    """What an orchestrator and Prometheus do, a little more often than they do."""
    for _ in range(round(seconds)):
        for path in ("/healthz", "/readyz", "/metrics"):
            await get(port, path)
        await asyncio.sleep(1)


async def served(port: int) -> int:
    """How many slots are served, as the probe tells."""
    told = json.loads(await get(port, "/readyz"))
    return list(told["slots"].values()).count("serving")


async def get(port: int, path: str) -> bytes:
    """The body of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: worker\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer.partition(b"\r\n\r\n")[2]
