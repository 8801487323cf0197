"""The figures page: what must stay as it is, and a place for what is counted anew."""

from __future__ import annotations

import pytest

from tests.figures import MARKS, ids_made, loops
from tests.unit.books.pages import PAGES


def test_the_cycle_loop_is_written_once() -> None:
    """Whoever wants a slot's work goes through the engine."""
    assert loops() == ["bridge/slot/engine.py"]


@pytest.mark.parametrize("cold", [False, True])
def test_one_answer_makes_at_most_three_ids(cold: bool) -> None:
    """Those of the approval, the command and the run that it starts."""
    assert ids_made(cold=cold) <= 3


def test_the_table_has_its_place() -> None:
    """Where `--write` puts it."""
    begin, end = map(PAGES["docs/figures.md"].index, MARKS)
    assert begin < end
