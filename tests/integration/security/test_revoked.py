"""A right that is taken away while a worker serves: the slot stops and says which, writes nothing
of what it was at, and goes on by itself once the right is back.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any

import pytest

from bridge.config import load
from bridge.kafka import rights, worker
from bridge.kafka.worker import Worker
from tests.integration.kafka.deployment import until
from tests.integration.security.house import SOURCE, House
from tests.integration.security.test_missing_rights import right

USED_BY_A_QUESTION = (
    "Read inputs",
    "Read answers",
    "Write state",
    "Write approvals",
    "Write transactional-id",
)


@pytest.mark.parametrize("needed", USED_BY_A_QUESTION)
async def test_a_slot_stops_for_a_right_and_goes_on_when_it_is_back(
    house: House,
    needed: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "slot_times", quick(worker.slot_times))
    missing = right(house, needed)
    grant = rights.principal(house.config).add(missing)
    caplog.set_level(logging.INFO, "bridge")
    serving = Worker(load(house.settings(house.secured.login())))
    running = asyncio.create_task(serving.run())
    try:
        await until(lambda: states(serving) == ["serving"])
        house.secured.revoke([missing])
        if missing.operation == "Read":  # noticed by itself; what came before that is asked
            await until(lambda: states(serving) == ["stopped"])
        await asyncio.to_thread(house.ask, "thread-1")
        await until(lambda: states(serving) == ["stopped"])
        assert any(grant in record.getMessage() for record in caplog.records)
        ready, details = serving.readiness()
        assert not ready
        assert grant in str(details)
        assert await asyncio.to_thread(house.approvals) == []
        house.secured.grant([missing])
        await until(lambda: states(serving) == ["serving"])
        await until(lambda: pending(serving) == 1)
    finally:
        serving.stop()
        assert await running == 0
    asked = await asyncio.to_thread(house.approvals)
    assert [found["thread_id"] for found in asked] == ["thread-1"]


def quick(times: Any) -> Any:
    """Looks again at once, instead of after half a minute."""
    return lambda settings: replace(times(settings), retry=0.3)


def states(serving: Worker) -> list[str]:
    return list(serving.readiness()[1]["slots"].values())


def pending(serving: Worker) -> float | None:
    """Questions that its slots know of, as Prometheus would see them."""
    metric, labels = "interrupt_bridge_pending", {"source": SOURCE}
    return serving.metrics.registry.get_sample_value(metric, labels)
