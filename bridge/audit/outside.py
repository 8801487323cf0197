"""I5 and I7: what no log shows by itself, judged from what a test has measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bridge.audit.log import Violation

State = Mapping[bytes, bytes | None]


@dataclass(frozen=True, slots=True)
class Recovery:
    """One fault and the first committed output after it; seconds on one clock."""

    fault: str
    ended: float
    first_progress: float | None
    bound: float


def restores_agree(live: State, restored: State) -> Iterator[Violation]:
    """I5: both states hold the same keys with the same bytes; a null value is no value."""
    for key in sorted(set(live) | set(restored)):
        if live.get(key) != restored.get(key):
            name = key.decode(errors="backslashreplace")
            yield Violation("I5", "a restore differs from the state it restores", (name,))


def progress_resumed(recovery: Recovery) -> Iterator[Violation]:
    """I7: work went on within the bound."""
    if recovery.first_progress is None:
        yield Violation("I7", "no progress after the fault", (recovery.fault,))
        return
    took = recovery.first_progress - recovery.ended
    if took > recovery.bound:
        message = f"progress took {took:.1f} s, allowed are {recovery.bound:.1f} s"
        yield Violation("I7", message, (recovery.fault,))
