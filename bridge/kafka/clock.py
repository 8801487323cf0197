"""Broker time, as a slot knows it.

The state topic stamps every append; each commit teaches the slot one stamp, and the monotonic
clock runs between them. The machine's wall clock decides nothing: it may be hours off.
"""

from __future__ import annotations

import time
from collections.abc import Callable


class BrokerClock:
    """Milliseconds since the epoch by the broker's stamps; never goes backwards."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._stamp = 0
        self._seen_at = monotonic()

    def learn(self, stamp: int) -> None:
        """Take a broker stamp read just now. One that is behind our own reckoning is ignored."""
        if stamp > self.now():
            self._stamp, self._seen_at = stamp, self._monotonic()

    def now(self) -> int:
        """Broker time in milliseconds; a lower bound, late by the latency of the last commit."""
        return self._stamp + int((self._monotonic() - self._seen_at) * 1000)

    def skew_seconds(self, wall: float) -> float:
        """How far a wall clock (seconds since the epoch) is ahead of the broker."""
        return wall - self.now() / 1000
