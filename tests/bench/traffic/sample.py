"""One record's value under the kind that it counts for, and words of the length that it needs."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

_PROSE = (
    "The order was paid on Tuesday and left the warehouse the day after; the carrier says that it "
    "will arrive before noon. Shall the customer get a note about it, or is the usual mail enough? "
)


class Sample(NamedTuple):
    """One record."""

    kind: str
    value: bytes


def sample(kind: str, event: Any) -> Sample:
    """The event as JSON without blanks, as most producers write it."""
    return Sample(kind, json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode())


def prose(length: int) -> str:
    """That many characters of plain English."""
    return (_PROSE * (length // len(_PROSE) + 1))[:length]
