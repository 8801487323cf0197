"""The check itself: all rules over one log, and a verdict with its figures.

A log without violations is evidence only as far as its figures show that something happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from bridge.audit import answer_rules, approval_rules, closing_rules, command_rules, flow_rules
from bridge.audit.invariants import Noun
from bridge.audit.log import LogRecord, Setup, Violation
from bridge.audit.outside import Recovery, State, progress_resumed, restores_agree
from bridge.audit.report import Report
from bridge.audit.scope import Scope, Why
from bridge.audit.story import Story

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


def check(
    records: Iterable[LogRecord],
    setup: Setup,
    *,
    restores: Sequence[tuple[State, State]] = (),
    recoveries: Sequence[Recovery] = (),
) -> Report:
    """Judge a log. Each pair in `restores` is (live, restored) state for I5."""
    story = Story(records, setup)
    scope = Scope(story)
    spoken = {violation for rule in RULES for violation in rule(story)}
    found = [
        violation._replace(places=scope.places(violation))
        for violation in spoken
        if scope.of_violation(violation) is None
    ]
    for live, restored in restores:
        found += restores_agree(live, restored)
    for recovery in recoveries:
        found += progress_resumed(recovery)
    judged, unjudged = _looked_at(story, scope)
    return Report(
        violations=tuple(sorted(set(found))),
        figures={
            "events": len({event.record.place for event in story.events}),
            "runs": len(story.runs_by_key),
            "interrupts": len(story.lives),
            "answers": sum(given.is_answer for given in story.given.values()),
            "operations": sum(not given.is_answer for given in story.given.values()),
            "verdicts": len(story.verdicts),
            "commands": len(story.commands),
            "dead letters": len(story.letters),
            "hops": len(story.hops),
        },
        outcomes=Counter(
            str(lives[0].last.body.get("run_outcome") or "open") for _, lives in story.runs()
        ),
        verdicts=Counter(str(verdict.body.get("verdict")) for verdict in story.verdicts),
        reasons=Counter(
            (letter.header("bridge-reason") or b"").decode() for letter in story.letters
        ),
        judged=judged,
        unjudged=unjudged,
    )


def _looked_at(story: Story, scope: Scope) -> tuple[Counter[Noun], Counter[tuple[Noun, Why]]]:
    """How many of each kind were judged, and how many not, by the reason."""
    found: list[tuple[Noun, Why | None]] = []
    places = {event.record.place for event in story.events}
    found += [("events", scope.of_place(place)) for place in places]
    found += [("runs", scope.of_run(key)) for key in story.runs_by_key]
    found += [("commands", scope.of_run(command.run_key)) for command in story.commands]
    for place, given in story.given.items():
        noun: Noun = "answers" if given.is_answer else "operations"
        found.append((noun, scope.of_place(place)))
    found += [("outputs", scope.of_place(record.place)) for record, _ in story.published()]
    judged = Counter(noun for noun, why in found if why is None)
    return judged, Counter((noun, why) for noun, why in found if why is not None)
