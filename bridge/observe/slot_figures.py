"""What a slot shows of itself when somebody scrapes, and the sum of it over a worker's slots.

Read at scrape time, so a cycle pays nothing for gauges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

SlotState = Literal[
    "opening", "restoring", "catching_up", "serving", "waiting", "closing", "stopped"
]
SLOT_STATES: tuple[SlotState, ...] = get_args(SlotState)

PREFIX = "interrupt_bridge_"


@dataclass(frozen=True, slots=True)
class SlotFigures:
    """One slot now. Ages are in seconds, by the clock that the slot dates by."""

    state: SlotState
    pending: Mapping[str, int] = field(default_factory=dict)  # by source
    oldest_pending: Mapping[str, float] = field(default_factory=dict)  # by source
    unconfirmed: int = 0  # resumed runs that nobody was seen to continue yet
    oldest_unconfirmed: float = 0.0
    parked: int = 0
    timers: int = 0
    timers_held: int = 0
    lag: Mapping[str, int] = field(default_factory=dict)  # by topic
    input_blocked: Mapping[str, float] = field(default_factory=dict)  # seconds by topic
    output_blocked: Mapping[str, float] = field(default_factory=dict)  # seconds by topic
    clock_skew: float | None = None  # seconds; None before a broker has given the time


class SlotCollector(Collector):
    """Sums the figures of all watched slots; labels are sources and topics of the settings."""

    def __init__(self) -> None:
        self._slots: dict[int, Callable[[], SlotFigures]] = {}

    def watch(self, slot: int, figures: Callable[[], SlotFigures]) -> None:
        """Ask this slot at every scrape; it must answer from memory."""
        self._slots[slot] = figures

    def forget(self, slot: int) -> None:
        """The slot belongs to somebody else now."""
        self._slots.pop(slot, None)

    def collect(self) -> Iterator[Metric]:
        slots = [figures() for figures in self._slots.values()]
        pending = _summed(figures.pending for figures in slots)
        yield _gauge("pending", "Questions nobody has answered yet", "source", pending)
        yield _gauge(
            "oldest_pending_age_seconds",
            "Age of the oldest question that is still pending, 0 with none",
            "source",
            _longest([dict.fromkeys(pending, 0.0), *(f.oldest_pending for f in slots)]),
        )
        states = Counter(figures.state for figures in slots)
        yield _gauge(
            "slots",
            "Slots of this worker",
            "state",
            {state: states[state] for state in SLOT_STATES},
        )
        lag = _summed(figures.lag for figures in slots)
        yield _gauge("lag", "Input records not yet read", "topic", lag)
        yield _gauge(
            "input_blocked_seconds",
            "How long what lies behind an open transaction on an input has waited, 0 with none",
            "topic",
            _longest(figures.input_blocked for figures in slots),
        )
        yield _gauge(
            "output_blocked_seconds",
            "How long readers of an own topic have stood before a transaction without its end",
            "topic",
            _longest(figures.output_blocked for figures in slots),
        )
        yield from self._totals(slots)

    def _totals(self, slots: list[SlotFigures]) -> Iterator[Metric]:
        yield _single(
            "resume_unconfirmed",
            "Resumed runs that nobody was seen to continue",
            sum(figures.unconfirmed for figures in slots),
        )
        yield _single(
            "resume_unconfirmed_oldest_age_seconds",
            "Age of the oldest resume command that nobody was seen to use, 0 with none",
            max((figures.oldest_unconfirmed for figures in slots), default=0.0),
        )
        yield _single("parked", "Answers waiting for their question", sum(f.parked for f in slots))
        yield _single("timers", "Timers set", sum(f.timers for f in slots))
        yield _single(
            "timers_held", "Timers due but held after a takeover", sum(f.timers_held for f in slots)
        )
        yield _skew(slots)


def _summed(each: Iterable[Mapping[str, int]]) -> Mapping[str, int]:
    total: Counter[str] = Counter()
    for figures in each:
        total.update(figures)
    return total


def _longest(each: Iterable[Mapping[str, float]]) -> Mapping[str, float]:
    longest: dict[str, float] = {}
    for seconds in each:
        for label, value in seconds.items():
            longest[label] = max(value, longest.get(label, 0.0))
    return longest


def _skew(slots: list[SlotFigures]) -> GaugeMetricFamily:
    """The worst of all slots, whose partitions may be led by different brokers.

    No sample where nobody knows: a 0 would say that the clock is right.
    """
    known = [figures.clock_skew for figures in slots if figures.clock_skew is not None]
    text = "Our wall clock minus broker time; absent until a broker has given it"
    family = GaugeMetricFamily(PREFIX + "clock_skew_seconds", text)
    for worst in sorted(known, key=abs)[-1:]:
        family.add_metric([], worst)
    return family


def _gauge(name: str, text: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(PREFIX + name, text, labels=[label])
    for key, value in sorted(values.items()):
        family.add_metric([key], value)
    return family


def _single(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(PREFIX + name, text, value=value)
