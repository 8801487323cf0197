"""A child that serves one slot as a worker does, and tells what each stage of inputs cost it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from bridge.core.model import Metric
from bridge.kafka.clock import BrokerClock
from bridge.kafka.identity import Remembered
from bridge.kafka.setup import SlotSetup, SlotTimes
from bridge.kafka.tenure import Tenure
from bridge.kafka.verdict import Verdicts
from bridge.observe.metrics import Metrics
from tests.bench.child import hear, job, say
from tests.bench.desk import make_desk
from tests.bench.profiling import profiled
from tests.bench.usage import own_cpu


class Counted(Metrics):
    """The worker's own metrics, which also say how many inputs and accepted answers there were."""

    def __init__(self) -> None:
        super().__init__("bench")
        self.inputs = 0
        self.accepted = 0

    def add(self, counts: Mapping[tuple[Metric, str], int]) -> None:
        super().add(counts)
        self.inputs += sum(n for (metric, _), n in counts.items() if metric == "consumed")
        self.accepted += counts.get(("answers", "accepted"), 0)


class Until(asyncio.Event):
    """Set once so many inputs were committed; what a slot asks before each of its cycles."""

    def __init__(self, metrics: Counted, inputs: int) -> None:
        super().__init__()
        self._metrics = metrics
        self._inputs = inputs

    def is_set(self) -> bool:
        return self._metrics.inputs >= self._inputs


async def _serve(given: Mapping[str, Any]) -> None:
    topics, events = given["topics"], given["events"]
    metrics = Counted()
    setup = SlotSetup(
        app_id=topics["state"],
        client={"bootstrap_servers": given["bootstrap"]},
        topics=topics,
        inputs=dict.fromkeys((events, *(topics[r] for r in _OWN)), "earliest"),
        cycle_max=given["batch"],
        metrics=metrics,
        times=SlotTimes(pace=0.0),
    )
    tenure = Tenure(make_desk(topics, events), setup, BrokerClock(), Verdicts(), Remembered())
    try:
        await tenure.open()
        say({"ready": True})
        while wanted := (await asyncio.to_thread(hear)).get("inputs", 0):
            say(await _stage(tenure, metrics, wanted))
    finally:
        await tenure.close()


async def _stage(tenure: Tenure, metrics: Counted, wanted: int) -> dict[str, float]:
    accepted = metrics.accepted
    with profiled():
        await tenure.serve(Until(metrics, metrics.inputs + wanted))
    return {"cpu": _meter.lap(), "inputs": wanted, "accepted": metrics.accepted - accepted}


class Meter:
    """Processor seconds from lap to lap."""

    def __init__(self) -> None:
        self._at = own_cpu()

    def lap(self) -> float:
        """What was used since the last one."""
        before, self._at = self._at, own_cpu()
        return self._at - before


_OWN = ("answers", "operations", "reroute")
_meter = Meter()

if __name__ == "__main__":
    asyncio.run(_serve(job()))
