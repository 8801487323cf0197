"""Instants as agents write them."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def rfc3339(moment: int) -> str:
    """Milliseconds since the epoch as text with all its digits."""
    instant = datetime.fromtimestamp(moment / 1000, UTC)
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def in_future(seconds: float) -> str:
    """An instant that far from now."""
    return rfc3339(int((time.time() + seconds) * 1000))
