"""A worker holds as much after any number of failures as before: only the log may grow."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest

from bridge.demo.broker import DevBroker
from bridge.kafka import slot as slots
from bridge.kafka.aiokafka_internals import MOST_REASONS, captured_reasons, prepare
from bridge.kafka.tenure import Tenure
from bridge.observe.logs import Repeats
from tests.integration.kafka.conftest import OUTPUTS, STAMPED
from tests.integration.kafka.deployment import Deploy, Deployment, at_home, until
from tests.integration.kafka.footprint import Footprint, tracing

AWAY = float(os.environ.get("BRIDGE_TEST_AWAY_SECONDS", "600"))
"""How long the long test leaves a worker without a broker."""

ROLES = (*OUTPUTS, *STAMPED)
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
async def test_rebuilds_leave_nothing(
    rebuilds: int, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slot that nobody lets in opens again and again; no more than its last try is there."""
    monkeypatch.setattr(slots, "_BACKOFF_S", (0.0, 0.0))
    site = nowhere()
    async with site.running() as slot:

        async def after(count: float) -> Footprint:
            await until(lambda: rebuilt(site) >= count, within=600)
            return Footprint.now()

        with tracing():
            before = await after(50)
            later = await after(50 + rebuilds)
        assert sum(isinstance(each, Tenure) for each in gc.get_objects()) == 1
        assert slot.state == "opening"
    assert later.objects - before.objects < 500
    assert later.traced - before.traced < 100_000
    assert later.handles - before.handles <= 2
    assert later.tasks - before.tasks <= 4


def nowhere() -> Deployment:
    topics = {role: role for role in ROLES}
    return Deployment("127.0.0.1:1", "app", topics, {"events": "earliest"})


def rebuilt(site: Deployment) -> float:
    count = site.metrics.registry.get_sample_value(
        "interrupt_bridge_rebuilds_total", {"cause": "unreachable"}
    )
    return count or 0.0


@pytest.mark.parametrize(
    "seconds", [30.0, pytest.param(AWAY, marks=pytest.mark.long)], ids=["short", "long"]
)
async def test_a_worker_without_a_broker_stays_as_it_is(
    seconds: float, deploy: Deploy, broker: DevBroker, lines: Lines
) -> None:
    """Eight slots, some at work when the broker dies: memory, objects, handles and tasks stay, and
    the log says what is wrong without filling a disk."""
    site = await deploy(SLOTS, events=SLOTS)
    async with AsyncExitStack() as slots:
        served = [await slots.enter_async_context(site.running(n)) for n in range(SLOTS)]
        await until(lambda: all(slot.state == "serving" for slot in served))
        await ask_everywhere(site)
        await asyncio.to_thread(broker.kill)
        try:
            with tracing():
                await asyncio.sleep(15)  # until connections, back-offs and caches are as they stay
                before, said = Footprint.now(), lines.count.total()
                await asyncio.sleep(seconds)
                after, said = Footprint.now(), lines.count.total() - said
        finally:
            await asyncio.to_thread(broker.restart)
        await until(lambda: all(slot.state == "serving" for slot in served), within=60)
    print(before, after, said, lines.count, sep="\n")
    assert after.traced - before.traced < 500_000
    assert after.objects - before.objects < 5_000
    assert after.resident - before.resident < 8_000_000
    assert after.handles - before.handles <= SLOTS
    assert after.tasks - before.tasks <= 2 * SLOTS
    assert said / seconds < MOST_LINES


async def ask_everywhere(site: Deployment) -> None:
    for slot in range(SLOTS):
        await site.ask(at_home(slot, SLOTS), partition=slot)
