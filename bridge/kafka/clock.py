"""Broker time, as a slot knows it, and as somebody knows it who only reads.

The state topic stamps every append; each acknowledged one teaches the slot a stamp, and the
monotonic clock runs between them. The machine's wall clock decides nothing: it may be hours off.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class BrokerClock:
    """Milliseconds since the epoch by the broker's stamps; never goes backwards."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._stamp = 0
        self._seen_at = monotonic()
        self._ahead: float | None = None  # of the newest stamp, behind our own reckoning or not

    @property
    def is_set(self) -> bool:
        """Whether a stamp was read at all; without one `now` is no time."""
        return self._ahead is not None

    def learn(self, stamp: int) -> None:
        """Take a broker stamp read just now. One that is behind our own reckoning is ignored."""
        now = self._monotonic()
        self._ahead = stamp / 1000 - now
        if stamp > self.now():
            self._stamp, self._seen_at = stamp, now

    def now(self) -> int:
        """Broker time in milliseconds; a lower bound, late by the latency of the last stamp."""
        return self._stamp + int((self._monotonic() - self._seen_at) * 1000)

    def age_seconds(self, since: int) -> float:
        """How long ago that was, 0 for what is to come, or while no stamp was read."""
        return max(0, self.now() - since) / 1000

    def skew_seconds(self, wall: float) -> float | None:
        """How far a wall clock (seconds since the epoch) is ahead of the broker, None if unknown.

        By the newest stamp: a broker whose clock was set back is not waited for, as `now` does.
        """
        return None if self._ahead is None else wall - self._ahead - self._monotonic()


class OnlookerClock:
    """Broker time for who reads records and writes none.

    The cluster's word where it gave one, else the machine's own clock, which may be ahead; but
    never earlier than a stamp that was read.
    """

    def __init__(
        self,
        reported: int | None,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._broker = BrokerClock(monotonic)
        self._wall = wall
        self._is_reported = reported is not None
        if reported is not None:
            self._broker.learn(reported)

    def read(self, stamp: int) -> None:
        """A record with this broker stamp was read, however old it is."""
        self._broker.learn(stamp)

    def now(self) -> datetime:
        """In UTC."""
        broker = self._broker.now() if self._broker.is_set else 0
        millis = broker if self._is_reported else max(broker, round(self._wall() * 1000))
        return _EPOCH + timedelta(milliseconds=millis)
