"""Agents that cannot be run here, why, and what was done in their stead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Absent:
    """Whole sentences; they stand below the table as they are here."""

    title: str
    reason: str
    instead: str


ABSENT: Final[tuple[Absent, ...]] = ()
