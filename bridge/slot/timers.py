"""When something of a slot is due: a heap of instants, cleaned lazily.

An entry whose run has changed since is recognised when it comes up and dropped, so a change costs
one push and no search.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

Entry = tuple[int, bytes]


class Timers:
    """Instants (broker milliseconds) with the key of what is due then."""

    def __init__(self) -> None:
        self._heap: list[Entry] = []
        self._ordered = False

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[Entry]:
        """Every entry, in no order, whether it still stands or not."""
        return iter(self._heap)

    def add(self, at: int, key: bytes) -> None:
        """Before `order` entries are only collected: a restore adds many."""
        if self._ordered:
            heapq.heappush(self._heap, (at, key))
        else:
            self._heap.append((at, key))

    def order(self) -> None:
        """Put what was collected in order, O(n); from here on each entry finds its place."""
        heapq.heapify(self._heap)
        self._ordered = True

    def keep(self, stands: Callable[[int, bytes], bool]) -> None:
        """Only those entries that still stand, each once; O(n), where most are known not to."""
        self._heap = [entry for entry in set(self._heap) if stands(*entry)]
        if self._ordered:
            heapq.heapify(self._heap)

    def next_at(self) -> int | None:
        return self._heap[0][0] if self._heap else None

    def due(self, now: int) -> Entry | None:
        """Take the earliest entry if its instant has come."""
        if self._heap and self._heap[0][0] <= now:
            return heapq.heappop(self._heap)
        return None

    def overdue(self, now: int, most: int = 1_000) -> int:
        """How many are due and not taken yet, counted up to `most`."""
        due, stack = 0, [0]
        while stack and due < most:
            index = stack.pop()
            if index < len(self._heap) and self._heap[index][0] <= now:
                due += 1
                stack += (2 * index + 1, 2 * index + 2)
        return due
