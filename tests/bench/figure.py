"""What a figure is, and how its measurements are told: rows of text, and a comparison with its
target that no test depends on.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """How much is measured. `scale` multiplies every count; 1 is what targets are stated for."""

    pairs: int = 5
    events: int = 1_000
    scale: float = 1.0

    def count(self, full: int, multiple: int = 100) -> int:
        """A count scaled, in whole multiples and at least one of them."""
        return max(multiple, round(full * self.scale / multiple) * multiple)


@dataclass(frozen=True, slots=True)
class Report:
    """Rows to print; `reached` is None where nothing is compared; `text` may hold a profile."""

    rows: tuple[tuple[str, str], ...]
    reached: bool | None = None
    text: str = ""
    skipped: str = ""

    @property
    def verdict(self) -> str:
        """One word, or the reason why nothing was measured."""
        if self.skipped:
            return f"skipped: {self.skipped}"
        return {True: "reached", False: "missed", None: "reported"}[self.reached]


@dataclass(frozen=True, slots=True)
class Figure:
    """A measurement with a name; `run` takes minutes and starts what it needs itself."""

    name: str
    what: str
    target: str
    run: Callable[[Options], Report]


Pair = tuple[float, float]
"""The same quantity of ours and of what it is compared with, taken one after the other."""


def alternate(pairs: int, ours: Callable[[], float], theirs: Callable[[], float]) -> list[Pair]:
    """Measure both by turns; each pair begins with the other, so that a drift cancels out."""
    taken = []
    for turn in range(pairs):
        if turn % 2 == 0:
            first = ours()
            taken.append((first, theirs()))
        else:
            second = theirs()
            taken.append((ours(), second))
    return taken


def ratios(pairs: Sequence[Pair]) -> list[float]:
    """Ours over theirs, pair by pair."""
    return [ours / theirs for ours, theirs in pairs]


def spread(values: Iterable[float], unit: str = "", digits: int = 2) -> str:
    """`median (min-max) unit`."""
    taken = sorted(values)
    middle = statistics.median(taken)
    text = f"{middle:,.{digits}f} ({taken[0]:,.{digits}f}–{taken[-1]:,.{digits}f})"
    return f"{text} {unit}".rstrip()


def compared(
    what: str,
    pairs: Sequence[Pair],
    unit: str,
    digits: int = 1,
    names: tuple[str, str] = ("ours", "compared with"),
) -> list[tuple[str, str]]:
    """The three rows of a comparison: the ratio, then both sides of it."""
    return [
        (f"{what}, ratio", spread(ratios(pairs), "×")),
        (f"{what}, {names[0]}", spread((ours for ours, _ in pairs), unit, digits)),
        (f"{what}, {names[1]}", spread((theirs for _, theirs in pairs), unit, digits)),
    ]


def quantile(values: Sequence[float], q: float) -> float:
    """The nearest rank: no value is made up between two that were measured."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, max(0, round(q * len(ranked)) - 1))]
