"""What all slots of a worker have in common: settings, times, topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bridge.kafka.clients import TRANSACTION_DEADLINE, TRANSACTION_TIMEOUT, ClientSettings
from bridge.kafka.intake import REFRESH_S, StartFrom
from bridge.kafka.rights import Access
from bridge.observe.metrics import Metrics
from bridge.records.outgoing import Outgoing
from bridge.records.topics import Topics
from bridge.slot.engine import EngineTimes


@dataclass(frozen=True, slots=True)
class SlotTimes:
    """Durations in seconds, but for the engine's, which are milliseconds of broker time.

    `pace` is the least time from cycle to cycle: Kafka answers CONCURRENT_TRANSACTIONS to anything
    faster, and a transaction's cost is shared by what gathers meanwhile. An idle slot answers at
    once. `refresh` is how often new partitions of inputs are looked for, `retry` how often a slot
    that stands still looks whether somebody has mended what stopped it. `backoff` is how long it
    waits after a failure, after two in a row and so on, at least two; the last counts from there.
    """

    engine: EngineTimes = field(default_factory=EngineTimes)
    transaction_deadline: float = TRANSACTION_DEADLINE
    transaction_timeout: float = TRANSACTION_TIMEOUT
    pace: float = 0.03
    refresh: float = REFRESH_S
    retry: float = 30.0
    backoff: tuple[float, ...] = (0.2, 0.5, 1.0, 2.0, 5.0)


@dataclass(frozen=True, slots=True)
class SlotSetup:
    """What all slots of a worker have in common."""

    app_id: str
    client: ClientSettings
    topics: Topics
    inputs: Mapping[str, StartFrom]  # by topic name, the bridge's own included
    cycle_max: int
    metrics: Metrics
    times: SlotTimes = field(default_factory=SlotTimes)
    waiting: Callable[[], frozenset[str]] = frozenset  # topics that are not to be read now
    silence: Callable[[], float] = float  # seconds since any broker last answered
    deployment: Callable[[], str] = str  # the id of the deployment, as the group knows it
    access: Access | None = None  # what a missing right is found by; None: as the client says it


def takeover_marks(slot: int) -> list[Outgoing]:
    """R2 for other teams' readers: something after an abort marker on each compacted output."""
    return [Outgoing("approvals", f"__bridge/slot-{slot}".encode(), None)]
