"""Slots and numbers of things in a line."""

from __future__ import annotations

from collections.abc import Iterable


def numbers(slots: Iterable[int]) -> str:
    """`slot 3`, or `slots 0-2, 5`."""
    ordered = sorted(set(slots))
    runs: list[list[int]] = []
    for slot in ordered:
        if runs and runs[-1][-1] == slot - 1:
            runs[-1].append(slot)
        else:
            runs.append([slot])
    shown = (str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return f"slot{'s' if len(ordered) != 1 else ''} {', '.join(shown)}"


def counted(number: int, what: str) -> str:
    """`1 broker`, `2 brokers`."""
    return f"{number} {what}{'' if number == 1 else 's'}"
