"""The check itself: all rules over one log, and a verdict with its figures.

A log without violations is evidence only as far as its figures show that something happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bridge.audit import answer_rules, approval_rules, closing_rules, command_rules, flow_rules
from bridge.audit.log import LogRecord, Setup, Violation
from bridge.audit.outside import Recovery, State, progress_resumed, restores_agree
from bridge.audit.story import Story

_SHOWN = 40  # violations printed; the rest are counted

RULES: tuple[Callable[[Story], Iterator[Violation]], ...] = (
    command_rules.one_command_per_run,
    command_rules.command_iff_resumed,
    closing_rules.nothing_stays_open_for_ever,
    closing_rules.closed_for_a_cause,
    closing_rules.a_run_that_moved_on_is_closed,
    closing_rules.operations_take_effect,
    command_rules.entries_come_from_answers,
    command_rules.answers_and_expiry_do_not_mix,
    approval_rules.every_event_is_accounted_for,
    approval_rules.every_approval_was_asked,
    approval_rules.revisions_have_no_gap,
    approval_rules.an_end_is_final,
    answer_rules.one_verdict_each,
    answer_rules.shape_is_judged_rightly,
    answer_rules.probes_are_answered_by_their_slot,
    answer_rules.first_accepted_stands,
    answer_rules.accepted_means_valid,
    answer_rules.accepted_shows_and_is_in_time,
    answer_rules.refusals_have_their_cause,
    flow_rules.outputs_have_their_input,
    flow_rules.outputs_stand_at_home,
    flow_rules.hops_lead_home_once,
    flow_rules.bad_records_are_set_aside,
)


@dataclass(frozen=True, slots=True)
class Report:
    """What was found, and how much was looked at."""

    violations: tuple[Violation, ...]
    figures: Mapping[str, int]
    outcomes: Mapping[str, int]  # runs by outcome
    verdicts: Mapping[str, int]
    reasons: Mapping[str, int]  # dead letters by reason

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
            "read      " + _listed(self.figures),
            "runs      " + _listed(self.outcomes),
            "verdicts  " + _listed(self.verdicts),
            "dead      " + _listed(self.reasons),
            "invariants I1 to I10 hold" if self.ok else f"{len(self.violations)} violations",
        ]
        lines += [f"  {violation}" for violation in self.violations[:_SHOWN]]
        return "\n".join(lines)


def check(
    records: Iterable[LogRecord],
    setup: Setup,
    *,
    restores: Sequence[tuple[State, State]] = (),
    recoveries: Sequence[Recovery] = (),
) -> Report:
    """Judge a log. Each pair in `restores` is (live, restored) state for I5."""
    story = Story(records, setup)
    found = [violation for rule in RULES for violation in rule(story)]
    for live, restored in restores:
        found += restores_agree(live, restored)
    for recovery in recoveries:
        found += progress_resumed(recovery)
    return Report(
        violations=tuple(sorted(set(found))),
        figures=_figures(story),
        outcomes=Counter(
            str(lives[0].last.body.get("run_outcome") or "open") for _, lives in story.runs()
        ),
        verdicts=Counter(str(verdict.body.get("verdict")) for verdict in story.verdicts),
        reasons=Counter(
            (letter.header("bridge-reason") or b"").decode() for letter in story.letters
        ),
    )


def _figures(story: Story) -> dict[str, int]:
    return {
        "events": len({event.record.place for event in story.events}),
        "runs": len(story.runs_by_key),
        "interrupts": len(story.lives),
        "answers": sum(given.is_answer for given in story.given.values()),
        "operations": sum(not given.is_answer for given in story.given.values()),
        "verdicts": len(story.verdicts),
        "commands": len(story.commands),
        "dead letters": len(story.letters),
        "hops": len(story.hops),
    }


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"
