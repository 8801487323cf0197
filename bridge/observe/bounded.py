"""Counters whose label can take few values only, whatever records may say."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter

OTHER = "other"
MOST_VALUES = 64
"""More sources, topics or reasons than anybody reads on one graph."""


class BoundedCounter:
    """A counter with one label; a value too many counts under "other"."""

    def __init__(self, name: str, text: str, label: str, registry: CollectorRegistry) -> None:
        self._counter = Counter(name, text, [label], registry=registry)
        # Children are stored here because `labels()` validates and locks at every call.
        self._children: dict[str, Counter] = {}

    def add(self, value: str, amount: float = 1) -> None:
        """Count `amount` under the label value."""
        child = self._children.get(value)
        if child is None:
            if len(self._children) >= MOST_VALUES:
                value = OTHER
            child = self._children.setdefault(value, self._counter.labels(value))
        child.inc(amount)
