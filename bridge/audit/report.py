"""What a check found, and how much it looked at.

A log without violations is evidence only as far as the figures show that something happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bridge.audit.invariants import Noun
from bridge.audit.log import Violation
from bridge.audit.scope import Why

_SHOWN = 40  # violations in a summary; the rest are counted


@dataclass(frozen=True, slots=True)
class Report:
    """Violations in order of their invariants, and figures.

    `figures` count what the log holds, `judged` what was judged of it, and `unjudged` what was not,
    each by its reason.
    """

    violations: tuple[Violation, ...]
    figures: Mapping[str, int]
    outcomes: Mapping[str, int]  # runs by outcome
    verdicts: Mapping[str, int]
    reasons: Mapping[str, int]  # dead letters by reason
    judged: Mapping[Noun, int] = field(default_factory=dict)
    unjudged: Mapping[tuple[Noun, Why], int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not self.violations

    @property
    def broken(self) -> frozenset[str]:
        """The names of the invariants that do not hold."""
        return frozenset(violation.invariant for violation in self.violations)

    def summary(self) -> str:
        """A few lines for people: figures first, then every violation."""
        lines = [
            "read      " + listed(self.figures),
            "runs      " + listed(self.outcomes),
            "verdicts  " + listed(self.verdicts),
            "dead      " + listed(self.reasons),
            "invariants I1 to I10 hold" if self.ok else f"{len(self.violations)} violations",
        ]
        lines += [f"  {violation}" for violation in self.violations[:_SHOWN]]
        return "\n".join(lines)


def listed(counts: Mapping[str, int]) -> str:
    """`3 runs, 2 answers`, or `none`."""
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"
