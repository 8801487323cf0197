"""The metrics of a worker, on a registry of their own; every name begins with interrupt_bridge_.

Counters are added to once a cycle, after its transaction has committed, with what the cycle
collected; gauges are read from the slots when somebody scrapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from bridge.core.model import Metric
from bridge.observe.bounded import BoundedCounter
from bridge.observe.slot_figures import PREFIX, SlotCollector, SlotFigures

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_AGE_BUCKETS = (
    *(1, 5, 15, _MINUTE, 5 * _MINUTE, 15 * _MINUTE),
    *(_HOUR, 4 * _HOUR, 12 * _HOUR, _DAY, 3 * _DAY, 7 * _DAY, 30 * _DAY),
)
_TRANSACTION_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8)
_RESTORE_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300)

CounterName = Metric | Literal["gave_up", "leftovers", "rebuilds", "transactions"]
"""What rules count of records, and what workers count of themselves; each has its counter."""

COUNTERS: Final[tuple[tuple[CounterName, str, str], ...]] = (
    ("answers", "verdict", "Answers and operations judged"),
    ("runs_closed", "outcome", "Runs closed"),
    ("resume_failed", "source", "Resumed runs whose task failed or was rejected afterwards"),
    ("repeats", "source", "Closed questions that came once more, and read past"),
    ("expired", "source", "Questions abandoned because nobody answered in time"),
    ("dead_letters", "reason", "Records put aside"),
    ("lenient", "kind", "Deviations from a protocol that were read all the same"),
    ("carry_dropped", "reason", "Contexts of a thread not stored for its resume command"),
    ("unattributable", "source", "Events that name no thread the bridge knows"),
    ("consumed", "topic", "Input records read"),
    ("produced", "topic", "Records written, state included"),
    ("rerouted", "topic", "Records sent home to another slot"),
    ("transactions", "result", "Transactions by their end"),
    ("rebuilds", "cause", "Slots opened again"),
    ("gave_up", "cause", "Times the worker gave all its slots up because it could open none"),
    ("leftovers", "end", "Partitions where a transaction's end was lost and put in its place"),
)
"""Name, label and text of each counter; Prometheus stores it as `<PREFIX><name>_total`."""


class Metrics:
    """All of them. Attribute names are the metrics' names without prefix and `_total`."""

    def __init__(self, version: str) -> None:
        self.registry = CollectorRegistry()
        self._counters: dict[CounterName, BoundedCounter] = {
            name: BoundedCounter(PREFIX + name, text, label, self.registry)
            for name, label, text in COUNTERS
        }
        self.slots = SlotCollector()
        self.registry.register(self.slots)
        self.approval_age = self._histogram(
            "approval_age_seconds", "From publishing a question to closing it", _AGE_BUCKETS
        )
        self.transaction = self._histogram(
            "transaction_seconds", "From begin to the end of commit", _TRANSACTION_BUCKETS
        )
        self.restore = self._histogram(
            "restore_seconds", "From opening a slot to its state restored", _RESTORE_BUCKETS
        )
        self.restored_records = Counter(
            PREFIX + "restored_records",
            "State records read while restoring",
            registry=self.registry,
        )
        self.slots_configured = self._gauge("slots_configured", "Slots that the settings name")
        self.strangers = self._gauge(
            "strangers", "Members of the workers' group that are no workers"
        )
        self.sources_waiting = Gauge(
            PREFIX + "sources_waiting",
            "Sources that are not read until every worker knows them",
            ["source"],
            registry=self.registry,
        )
        Info(PREFIX + "build", "This release", registry=self.registry).info({"version": version})

    def add(self, counts: Mapping[tuple[Metric, str], int]) -> None:
        """What a cycle counted, {(metric, label value): amount}."""
        for (metric, label), amount in counts.items():
            self.count(metric, label, amount)

    def count(self, metric: CounterName, label: str, amount: int = 1) -> None:
        """Count one thing under a label value."""
        self._counters[metric].add(label, amount)

    def ages(self, seconds: Iterable[float]) -> None:
        """How long each question was open that a cycle closed."""
        for age in seconds:
            self.approval_age.observe(age)

    def committed(self, seconds: float) -> None:
        """A transaction committed after that long."""
        self.transaction.observe(seconds)
        self._counters["transactions"].add("committed")

    def failed(self, result: str) -> None:
        """A transaction did not commit for sure: `aborted`, `fenced`, `unknown` or `failed`."""
        self._counters["transactions"].add(result)

    def restored(self, records: int, seconds: float) -> None:
        """A slot has read its state back."""
        self.restored_records.inc(records)
        self.restore.observe(seconds)

    def watch_slot(self, slot: int, figures: Callable[[], SlotFigures]) -> None:
        """Ask the slot for its gauges at every scrape, until `forget_slot`."""
        self.slots.watch(slot, figures)

    def forget_slot(self, slot: int) -> None:
        """The slot is no longer ours."""
        self.slots.forget(slot)

    def exposition(self) -> bytes:
        """The text that Prometheus scrapes, of CONTENT_TYPE."""
        return generate_latest(self.registry)

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(PREFIX + name, text, registry=self.registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(PREFIX + name, text, buckets=buckets, registry=self.registry)
