"""The checker is shown to fail: one seeded violation of each invariant, each named by it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from bridge.audit import ids
from bridge.audit.checker import RULES, check
from bridge.audit.log import Role
from bridge.audit.outside import Recovery
from bridge.audit.story import Story
from tests.chaos.clean_log import clean_log
from tests.chaos.edits import Records, again, without
from tests.chaos.mixed_log import mixed_log
from tests.chaos.mixed_seeds import A2A, GENKIT
from tests.chaos.seeds import SEEDED, unasked
from tests.chaos.written_log import SETUP, TOPICS
from tests.chaos.written_runs import MIXED

OUTPUTS: tuple[Role, ...] = (
    "approvals",
    "resume-commands",
    "answer-verdicts",
    "dead-letters",
    "reroute",
)


def test_a_clean_log_breaks_nothing() -> None:
    """The story has every kind of verdict and end, and the checker has nothing to say."""
    report = check(clean_log(), SETUP)
    assert report.ok, report.summary()
    assert set(report.outcomes) == {"resumed", "superseded", "withdrawn", "open"}
    assert len(report.verdicts) == 11
    assert "10 verdicts" not in report.summary()


@pytest.mark.parametrize(
    ("invariant", "rule", "seed"),
    [pytest.param(*row[:2], row[3], id=f"{row[0]}-{row[2]}") for row in SEEDED],
)
def test_a_seeded_violation_is_named(
    invariant: str, rule: str, seed: Callable[[Records], Records]
) -> None:
    """The rule that is responsible speaks, and the report names the invariant."""
    log = seed(clean_log())
    spoken = next(r for r in RULES if r.__name__ == rule)(Story(log, SETUP))
    assert invariant in {violation.invariant for violation in spoken}
    assert invariant in check(log, SETUP).broken


def test_a_clean_log_of_tasks_and_turns_breaks_nothing() -> None:
    """Answered, given up, superseded, gone on and not to be resumed: all is as it must be."""
    report = check(mixed_log(), MIXED)
    assert report.ok, report.summary()
    assert set(report.outcomes) == {"resumed", "superseded", "withdrawn", "unresumable", "open"}


@pytest.mark.parametrize(
    ("invariant", "rule", "seed"),
    [
        pytest.param(*row[:2], row[3], id=f"{protocol}-{row[0]}-{row[2]}")
        for protocol, rows in (("a2a", A2A), ("genkit", GENKIT))
        for row in rows
    ],
)
def test_a_violation_seeded_into_tasks_and_turns_is_named(
    invariant: str, rule: str, seed: Callable[[Records], Records]
) -> None:
    """The rules hold for every protocol, each with its own words."""
    log = seed(mixed_log())
    spoken = next(r for r in RULES if r.__name__ == rule)(Story(log, MIXED))
    assert invariant in {violation.invariant for violation in spoken}
    assert invariant in check(log, MIXED).broken


def test_every_rule_has_a_seed() -> None:
    """A rule that was never seen to fail proves nothing."""
    assert {rule.__name__ for rule in RULES} == {row[1] for row in SEEDED}


def test_a_restore_that_differs_breaks_i5() -> None:
    """State is compared byte for byte; a tombstone equals a missing key."""
    live = {b"run/1": b"a", b"run/2": None}
    assert check(clean_log(), SETUP, restores=[(live, {b"run/1": b"a"})]).ok
    assert check(clean_log(), SETUP, restores=[(live, {b"run/1": b"b"})]).broken == {"I5"}
    assert check(clean_log(), SETUP, restores=[(live, {})]).broken == {"I5"}


@pytest.mark.parametrize("first", [None, 120.5])
def test_late_progress_breaks_i7(first: float | None) -> None:
    """Neither a long silence nor an endless one passes."""
    in_time = Recovery("kill", ended=100.0, first_progress=109.0, bound=10.0)
    assert check(clean_log(), SETUP, recoveries=[in_time]).ok
    late = Recovery("kill", ended=100.0, first_progress=first, bound=10.0)
    assert check(clean_log(), SETUP, recoveries=[late]).broken == {"I7"}


@pytest.mark.parametrize("story", [clean_log, mixed_log])
def test_any_output_lost_is_noticed(story: Callable[[], Records]) -> None:
    """Each published record that is missing breaks some invariant."""
    log = story()
    for lost in (record for record in log if record.role in OUTPUTS):
        assert not check(without(log, lost), MIXED).ok, lost


@pytest.mark.parametrize("story", [clean_log, mixed_log])
def test_any_output_doubled_is_noticed(story: Callable[[], Records]) -> None:
    """Each published record that appears twice breaks some invariant."""
    log = story()
    for twice in (record for record in log if record.role in OUTPUTS):
        assert not check(again(log, twice), MIXED).ok, twice


@pytest.mark.parametrize("seed", range(25))
def test_a_torn_transaction_is_noticed(seed: int) -> None:
    """Outputs of one topic lost from some moment on, as when a commit is only half seen."""
    chance = random.Random(seed)
    log = clean_log()
    torn = chance.choice([r for r in log if r.role in OUTPUTS])
    kept = [r for r in log if r.role != torn.role or r.timestamp < torn.timestamp]
    assert not check(kept, SETUP).ok, f"seed {seed}: {torn}"


def test_work_still_to_do_is_no_violation() -> None:
    """Inputs beyond the positions may wait; the same inputs below them may not."""
    log = unasked(clean_log())
    unread = replace(SETUP, final=False)
    assert check(log, unread).ok
    ends = {(r.topic, r.partition): 998 for r in log}
    assert check(log, replace(unread, positions=ends)).ok
    passed = {place: 1_000 for place in ends}
    assert check(log, replace(unread, positions=passed)).broken == {"I4"}


def test_an_output_ahead_of_its_position_breaks_i6() -> None:
    """Output and position commit together, so a position that lags is a torn transaction."""
    log = clean_log()
    positions = {(r.topic, r.partition): 1_000 for r in log} | {(TOPICS["answers"], 0): 0}
    assert "I6" in check(log, replace(SETUP, positions=positions)).broken


def test_ids_are_those_of_the_published_examples() -> None:
    """The checker's own id scheme against the two examples of the contract."""
    plain = ids.make_id("approval", "support-agents", "", "thread-1", "run-1", "int-1")
    other = ids.make_id("approval", "a2a", "agent-1/tenant-9", "タスク-1", "q1", "q1")
    assert (plain, ids.home("thread-1", 6)) == ("faf6703e-aba3-8201-b3a3-5057f251dd62", 2)
    assert (other, ids.home_of_id(other, 6)) == ("d689a6cf-7b9c-861c-94e7-5621b7818833", 5)
