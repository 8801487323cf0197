"""What the settings say to the engine of a slot: the same for a worker and for a test."""

from __future__ import annotations

from typing import Final

from bridge.config.root import Config
from bridge.config.sections import Worker
from bridge.core.schema import SchemaCache
from bridge.slot.desk import Desk, Source
from bridge.slot.engine import Engine, EngineTimes

_SCHEMAS: Final = 1_000  # compiled, a few KB each


def desk(config: Config, slot: int) -> Desk:
    """What every cycle of the slot is decided with."""
    return Desk(
        slot=slot,
        slots=config.topics.partitions,
        sources={
            topic: Source(each.name, each.agent_protocol(), each.policy(), each.pointer())
            for each in config.sources
            for topic in each.topic_names
        },
        topics=config.topics.names(),
        limits=config.limits.for_rules(),
        schemas=SchemaCache(_SCHEMAS),
    )


def times(worker: Worker) -> EngineTimes:
    """Its graces and its heartbeat."""
    return EngineTimes(
        heartbeat=worker.heartbeat,
        reroute_grace=worker.reroute_grace,
        takeover_grace=worker.takeover_grace,
    )


def engine(config: Config, slot: int) -> Engine:
    """One that knows nothing yet."""
    return Engine(desk(config, slot), times(config.worker), config.limits.cycle_max)
