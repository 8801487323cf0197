"""One task followed on two ways: whatever the order they arrive in, its last word counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import Any

import pytest

from tests.unit.protocols.a2a_bench import Agents
from tests.unit.protocols.a2a_events import status, text

MILLIS = ["2026-10-06T09:00:05.484Z"] * 3
MICROS = [f"2026-10-06T09:00:05.484{n}Z" for n in ("274", "301", "345")]
SECONDS = ["2026-10-06T09:00:05Z"] * 3
AHEAD = [f"2099-10-06T09:00:05.48{n}Z" for n in (2, 3, 4)]
ALL = pytest.mark.parametrize(
    "instants", [MILLIS, MICROS, SECONDS, AHEAD], ids=["ms", "us", "s", "a clock that is ahead"]
)


def merged(first: Sequence[Any], second: Sequence[Any]) -> Iterator[list[Any]]:
    """Every order in which both ways keep their own."""
    size = len(first) + len(second)
    for places in combinations(range(size), len(first)):
        ways = iter(first), iter(second)
        yield [next(ways[number not in places]) for number in range(size)]


def begun(instants: Sequence[str]) -> list[Any]:
    """A task's first turn, on one way."""
    return [
        status("SUBMITTED", at=instants[0]),
        status("WORKING", at=instants[1]),
        status("INPUT_REQUIRED", text(), at=instants[2]),
    ]


@ALL
def test_a_task_that_waits_is_asked_in_whichever_order_it_is_told(instants: list[str]) -> None:
    """Its response and its stream, across partitions too: each event may come at any place."""
    submitted, working, asking = begun(instants)
    for told in permutations([asking, submitted, working, asking]):
        agents = Agents()
        agents.tells(*told)
        assert [one["run_id"] for one in agents.pending()] == ["q1"], told
        assert (agents.letters(), agents.ended()) == ([], [])


@ALL
def test_a_second_question_of_the_millisecond_is_the_one_that_stays(instants: list[str]) -> None:
    """Questions go by arrival, and none that was closed comes back."""
    turn = [*begun(instants), status("WORKING", at=instants[2])]
    way = [*turn, status("INPUT_REQUIRED", text("And now?"), message_id="q2", at=instants[2])]
    for told in merged(way, way):
        agents = Agents()
        agents.tells(*told)
        assert [one["run_id"] for one in agents.pending()] == ["q2"], told


@ALL
@pytest.mark.parametrize("end", ["COMPLETED", "FAILED"])
def test_a_task_that_has_ended_is_asked_nothing(end: str, instants: list[str]) -> None:
    """Ends go by arrival: two ways that tell one each close what they asked."""
    way = [*begun(instants), status(end, at=instants[2])]
    for told in merged(way, way):
        agents = Agents()
        agents.tells(*told)
        assert agents.pending() == [], told


@ALL
def test_the_beginning_told_again_says_nothing_of_the_answer(instants: list[str]) -> None:
    """Only work after the question shows that the answer has arrived."""
    agents = Agents()
    agents.tells(*begun(instants))
    agents.answers(agents.pending()[0], "main")
    agents.tells(*begun(instants))
    assert agents.bench.ledger.unconfirmed == 1
    agents.tells(status("WORKING", at=instants[2].replace("05", "06", 1).replace("10-06", "10-07")))
    assert agents.bench.ledger.unconfirmed == 0


@pytest.mark.parametrize("state", ["SUBMITTED", "WORKING"])
def test_a_generation_tells_what_is_newer_within_one_millisecond(state: str) -> None:
    """It counts each change of a task."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", text(), generation="4"))
    agents.tells(status(state, generation="3"))
    assert len(agents.pending()) == 1
    agents.tells(status(state, generation="5"))
    assert agents.ended() == [("q1", "withdrawn", "moved_on")]


@pytest.mark.parametrize("at", ["2026-10-06T09:00:09Z", None])
def test_the_beginning_of_a_task_is_never_newer_than_its_question(at: str | None) -> None:
    """An agent that stamps a status when it tells it gives the first one a later instant."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", text()), status("SUBMITTED", at=at))
    assert len(agents.pending()) == 1
