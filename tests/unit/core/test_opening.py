"""Interrupted runs: opened once, recognised again, superseded in order, refused with a reason."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from bridge.core.decide import decide
from bridge.core.model import Counted, Interrupted, Limits, Origin, Parked, SourcePolicy, Thread
from tests.unit.core.builders import (
    DAY,
    HOUR,
    NEEDS_APPROVED,
    NOW,
    answer,
    approval_of,
    event,
    letters,
    opened,
    published,
    question,
    resumes,
    rules,
    run_policy,
    told,
    verdicts,
)


def test_each_interrupt_is_one_pending_approval() -> None:
    """The order of the run is the order of the approvals."""
    decision = decide(Thread(), event("b", "a"), NOW, rules())
    assert published(decision) == [("b", "pending", 1), ("a", "pending", 1)]


def test_the_identical_event_changes_nothing() -> None:
    """A producer's retry gives back the very same thread and tells nobody anything."""
    thread = opened("a")
    decision = decide(
        thread, replace(event("a"), origin=Origin("events", 0, 8, NOW + 5)), NOW, rules()
    )
    assert decision.thread is thread
    assert decision.effects == ()


def test_other_content_for_an_open_run_is_a_conflict() -> None:
    """One run id with two lists of interrupts: the first was published, so it stands."""
    thread = opened("a")
    decision = decide(thread, event("a", "b"), NOW, rules())
    assert decision.thread is thread
    assert letters(decision) == ["run_conflict"]


@pytest.mark.parametrize(("written", "reasons"), [(NOW + 10, []), (NOW + 11, ["run_reused"])])
def test_a_closed_run_asked_again(written: int, reasons: list[str]) -> None:
    """A replay of the event is silent; a new event with an old run id is not."""
    closed = told(opened("a"), [answer("a")], NOW + 10).thread
    again = replace(event("a", at=written), origin=Origin("events", 0, 9, written))
    decision = decide(closed, again, NOW + HOUR, rules())
    assert decision.thread is closed
    assert letters(decision) == reasons


@pytest.mark.parametrize(("own", "reasons"), [(NOW, []), (NOW + 1, ["run_reused"])])
def test_a_closed_run_told_of_again(own: int, reasons: list[str]) -> None:
    """A late record of what happened at the same instant is silent; of another one it is not."""
    closed = told(opened("a"), [answer("a")], NOW + 10).thread
    again = replace(event("a", at=own), origin=Origin("events", 0, 9, NOW + 11))
    decision = decide(closed, again, NOW + HOUR, rules())
    assert decision.thread is closed
    assert letters(decision) == reasons


@pytest.mark.parametrize(("other", "reasons"), [({}, []), ({"digest": b"other"}, ["run_conflict"])])
def test_a_state_that_is_told_again_is_no_reuse(other: dict[str, Any], reasons: list[str]) -> None:
    """A closed question of it is read past and counted; one with other content is not."""
    closed = told(opened("a"), [answer("a")], NOW + 10).thread
    again = replace(event("a"), origin=Origin("events", 0, 9, NOW + 11), repeats=True, **other)
    decision = decide(closed, again, NOW + HOUR, rules())
    assert decision.thread is closed
    assert letters(decision) == reasons
    assert (Counted("repeats", "support") in decision.effects) is not bool(reasons)


@pytest.mark.parametrize(
    ("age", "limit", "reasons"),
    [
        (DAY - 1, DAY, []),
        (DAY, DAY, ["too_old"]),
        (7 * DAY - 1, 30 * DAY, []),
        (7 * DAY, 30 * DAY, ["too_old"]),  # never more than closed_retention
    ],
)
def test_old_events_open_nothing(age: int, limit: int, reasons: list[str]) -> None:
    """After a run was forgotten a replay must not ask again."""
    policy = SourcePolicy(max_event_age=limit)
    decision = decide(Thread(), event(at=NOW - age), NOW, rules(policy))
    assert letters(decision) == reasons
    assert bool(decision.thread.runs) is not bool(reasons)


def test_a_newer_run_supersedes_the_open_one() -> None:
    """Pending ones turn superseded, answered ones stay, and all of them show the run's outcome."""
    thread = told(opened("a", "b"), [answer("a")]).thread
    decision = decide(thread, event("c", run="run-2", at=NOW + 1), NOW + 1, rules())
    assert published(decision) == [
        ("a", "answered", 3),
        ("b", "superseded", 2),
        ("c", "pending", 1),
    ]
    old, new = decision.thread.runs
    assert (old.outcome, new.outcome) == ("superseded", None)
    assert {item.closed_reason for item in old.items} == {"superseded"}
    assert resumes(decision) == []


def test_an_older_run_that_comes_late_is_published_once_as_superseded() -> None:
    """Nobody waits for it, the newer one stays open, and a repeat says nothing more."""
    thread = opened("a", run="run-2", at=NOW)
    late = event("z", run="run-1", at=NOW - 1)
    decision = decide(thread, late, NOW, rules())
    assert published(decision) == [("z", "superseded", 1)]
    assert [run.outcome for run in decision.thread.runs] == [None, "superseded"]
    assert decide(decision.thread, late, NOW, rules()).effects == ()


@pytest.mark.parametrize(
    ("generations", "at", "outcomes"),
    [
        ((5, 6), NOW - 1, ["superseded", None]),
        ((6, 5), NOW + 1, [None, "superseded"]),
        ((5, 5), NOW - 1, [None, "superseded"]),  # equal: not supported, the instant decides
        ((0, 6), NOW - 1, [None, "superseded"]),
        ((0, 0), NOW, ["superseded", None]),  # a tie: what arrives later is newer
    ],
)
def test_newer_is_by_generation_then_instant_then_arrival(
    generations: tuple[int, int], at: int, outcomes: list[str | None]
) -> None:
    """Generations count only where both runs have one and they differ."""
    thread = opened("a", generation=generations[0])
    second = event("b", run="run-2", at=at, generation=generations[1])
    assert [run.outcome for run in decide(thread, second, NOW, rules()).thread.runs] == outcomes


def test_early_answers_wait_for_their_question() -> None:
    """What was parked is judged with the event, in the order it came, and leaves the park."""
    early = [answer("a", offset=1), answer("a", offset=2), answer("a", offset=3, payload=b"1")]
    parked = told(Thread(), early).thread
    assert verdicts(told(Thread(), early)) == []
    decision = decide(parked, event("a", "b"), NOW + 1, rules())
    assert verdicts(decision) == ["accepted", "duplicate", "conflict"]
    assert published(decision) == [("a", "pending", 1), ("b", "pending", 1), ("a", "answered", 2)]
    assert decision.thread.parked == ()


def test_early_answers_can_complete_a_run_at_once() -> None:
    """One decision from question to resume; the approval's life is still told from its start."""
    parked = told(Thread(), [answer("a")]).thread
    decision = decide(parked, event("a"), NOW, rules())
    assert published(decision) == [("a", "pending", 1), ("a", "answered", 2)]
    assert len(resumes(decision)) == 1


def test_an_early_answer_to_a_run_that_comes_too_late_is_stale() -> None:
    """It was parked in good faith; the verdict says what became of its question."""
    thread = opened("a", run="run-2")
    thread = replace(thread, parked=(Parked(approval_of("z"), answer("z"), NOW + HOUR),))
    decision = decide(thread, event("z", at=NOW - 1), NOW, rules())
    assert verdicts(decision) == ["stale"]


def test_more_interrupts_than_allowed_is_a_limit() -> None:
    """The bound itself still passes."""
    few = rules(limits=Limits(interrupts_per_run=2))
    assert letters(decide(Thread(), event("a", "b"), NOW, few)) == []
    assert letters(decide(Thread(), event("a", "b", "c"), NOW, few)) == ["limit"]


def test_a_run_too_large_for_its_state_record_is_a_limit() -> None:
    """Refused before anything is published."""
    small = rules(limits=Limits(thread_state_bytes=4_000))
    large = event(question("a", message="é" * 1_500))
    assert letters(decide(Thread(), large, NOW, small)) == ["limit"]


@pytest.mark.parametrize(
    "schema",
    [b'{"$ref":"https://example.test/x"}', b'{"type":"no"}', b'{"a":"' + b"x" * 17_000 + b'"}'],
)
def test_an_unusable_schema_is_flagged_or_refused(schema: bytes) -> None:
    """Flagged by default and then not enforced; refused where the policy says so."""
    asked = event(question("a", response_schema=schema))
    thread = decide(Thread(), asked, NOW, rules()).thread
    assert thread.runs[0].items[0].flags == ("schema_unusable",)
    assert verdicts(told(thread, [answer("a", payload=b"3")])) == ["accepted"]
    strict = rules(SourcePolicy(refuse_unusable_schema=True))
    assert letters(decide(Thread(), asked, NOW, strict)) == ["unsupported"]


def test_a_usable_schema_is_no_reason_to_refuse() -> None:
    """The strict policy lets ordinary questions pass."""
    strict = rules(SourcePolicy(refuse_unusable_schema=True))
    asked = event(question("a", response_schema=NEEDS_APPROVED))
    assert letters(decide(Thread(), asked, NOW, strict)) == []


@pytest.mark.parametrize(
    ("settings", "expires_at", "flags"),
    [
        ({}, NOW + HOUR, ()),
        ({"expires_at_raw": "2027-01-15T08:00:00.5Z"}, 1_800_000_000_500, ()),
        ({"expires_at_raw": "soon"}, None, ("expiry_unreadable",)),
        ({"kind": "authorization"}, None, ()),
        ({"flags": ("no_refusal",)}, None, ("no_refusal",)),
        ({"kind": "authorization", "expires_at_raw": "2027-01-15"}, 1_799_971_200_000, ()),
    ],
)
def test_the_effective_deadline(
    settings: dict[str, object], expires_at: int | None, flags: tuple[str, ...]
) -> None:
    """Its own instant, else the default_ttl; never a guess, never where none can be refused."""
    policy = rules(SourcePolicy(default_ttl=HOUR))
    item = opened(question("a", **settings), rules=policy).runs[0].items[0]
    assert (item.expires_at, item.flags) == (expires_at, flags)


def test_what_a_run_needs_is_fixed_when_it_opens() -> None:
    """A later change of the source's policy does not reach a run that is open."""
    thread = opened("a", rules=rules(run_policy(allowed_answerers=("ann",))))
    assert verdicts(told(thread, [answer("a", answered_by="bob")])) == ["forbidden"]


def test_a_producer_whose_clock_is_ahead_is_not_taken_for_reuse() -> None:
    """The very record that opened the run, read again after its close, is a replay."""
    ahead = event("a", at=NOW + HOUR)
    closed = told(Thread(), [ahead, answer("a")]).thread
    assert decide(closed, ahead, NOW + 1, rules()).effects == ()


def test_newer_run_confirms_the_resume_before_it() -> None:
    """A thread that asks again went on: nobody need wonder whether the command was carried out."""
    resumed = told(opened("a"), [answer("a")]).thread
    assert not resumed.runs[0].confirmed
    again = decide(resumed, event("a", run="run-2", at=NOW + 1), NOW + 2, rules())
    assert again.thread.runs[0].confirmed


def test_clock_that_runs_ahead_does_not_block_its_thread() -> None:
    """A run stamped in the future is as old as its arrival; the next one supersedes it."""
    ahead = told(Thread(), [event("a", at=NOW + 50 * DAY)]).thread
    again = decide(ahead, event("b", run="run-2", at=NOW + 1), NOW + 1, rules())
    assert [run.outcome for run in again.thread.runs] == ["superseded", None]


@pytest.mark.parametrize(
    "asked",
    [
        event("i" * 5_000),
        event("a", run="r" * 5_000),
        event(*(f"{n:0300}" for n in range(1_000))),
    ],
)
def test_run_that_could_never_be_resumed_is_not_asked(asked: Interrupted) -> None:
    """Ids stand in every approval and in the command: what they make too large is refused."""
    assert letters(decide(Thread(), asked, NOW, rules())) == ["limit"]
