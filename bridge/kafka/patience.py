"""When a worker that serves nothing has to give its slots up, and for how long. Pure.

Somebody else may be able to do what it cannot: its permissions were taken, its network reaches
some brokers only, a volume is full. Holding a slot without serving it keeps everybody from it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

_PAUSES: Final = (10.0, 30.0, 60.0, 120.0, 300.0)


@dataclass(frozen=True, slots=True)
class Standing:
    """A slot as its worker sees it."""

    well: bool  # it has been opened and serves
    reading: bool  # its state is being read, which takes as long as it takes
    failing: bool  # what ended its last tenure may be ours alone: no word for people to mend


class Patience:
    """Fed with a look at all slots now and then; times are seconds of a clock that runs evenly."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._wasted = 0.0
        self._looked: float | None = None
        self._given_up = 0

    def look(self, slots: Collection[Standing], heard: bool, now: float) -> bool:
        """Whether it is over. Time without a broker does not count: nobody else would serve."""
        past = now - self._looked if self._looked is not None else 0.0
        self._looked = now
        if any(slot.well for slot in slots):
            self._wasted, self._given_up = 0.0, 0
        elif any(slot.reading for slot in slots) or not any(slot.failing for slot in slots):
            self._wasted = 0.0
        elif heard:
            self._wasted += past
        return self._wasted >= self._limit

    def give_up(self) -> float:
        """Seconds to stay away; longer each time, until a slot has been served again."""
        pause = _PAUSES[min(self._given_up, len(_PAUSES) - 1)]
        self._given_up += 1
        self._wasted, self._looked = 0.0, None
        return pause
