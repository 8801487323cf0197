"""Checker and rules against each other: two readings of one design, from hundreds of seeds.

Whatever the plan does to the rules, the checker finds nothing; whatever is then lost, it finds.
"""

from __future__ import annotations

from random import Random

import pytest

from bridge.audit.checker import check
from bridge.audit.log import Role
from tests.chaos.rehearsal import SETUP, rehearsed

OUTPUTS: tuple[Role, ...] = ("approvals", "resume-commands", "answer-verdicts", "reroute")


@pytest.mark.parametrize("seed", range(12))
def test_the_rules_break_no_invariant(seed: int) -> None:
    """Answers early, late, wrong and twice, runs superseded and taken away: nothing to say."""
    report = check(rehearsed(seed, 120), SETUP)
    assert report.ok, f"seed {seed}\n{report.summary()}"
    assert not report.unjudged, "a record that the checker cannot read"
    assert report.outcomes["resumed"] > 20, report.summary()


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_lost_is_noticed(seed: int) -> None:
    """Any record less than the rules wrote is a violation, in a log of all kinds of mischief."""
    log = rehearsed(100 + seed, 60)
    written = [record for record in log if record.role in OUTPUTS]
    for lost in Random(seed).sample(written, 25):
        report = check([record for record in log if record is not lost], SETUP)
        assert not report.ok, f"seed {seed}: {lost}"
