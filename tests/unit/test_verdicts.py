"""What `answer` and `withdraw` say of a verdict."""

from __future__ import annotations

from typing import get_args

from bridge.cli.verdicts import MEANINGS, meaning
from bridge.core.model import Verdict


def test_every_verdict_has_a_sentence() -> None:
    """Nobody should have to look one up to know what to do."""
    assert MEANINGS.keys() == set(get_args(Verdict))


def test_a_verdict_of_a_later_release_stands_alone() -> None:
    """The set may grow."""
    assert meaning("late") == ": the run was resumed already"
    assert meaning("later") == ""


def test_an_accepted_withdrawal_says_what_became_of_the_run() -> None:
    assert meaning("accepted") == ": it counts"
    assert meaning("accepted", of_operation=True) == (
        ": the run is closed, and will not be resumed"
    )
    assert meaning("late", of_operation=True) == meaning("late")
