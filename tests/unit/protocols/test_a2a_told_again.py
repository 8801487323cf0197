"""What A2A agents tell again, and what only looks like it: snapshots, pages, late statuses."""

from __future__ import annotations

import pytest

from tests.unit.protocols.a2a_bench import Agents
from tests.unit.protocols.a2a_events import hybrid, interrupt_artifact, status, strands, text

A, B = "a" * 32, "b" * 32
LATER = "2026-10-06T09:00:05Z"


def test_a_snapshot_that_has_lost_its_answered_message_asks_nothing() -> None:
    """The SDK for Python moves it into the history before its agent says what it does next."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", strands("a")))
    agents.answers(agents.pending()[0], "yes")
    agents.tells(status("INPUT_REQUIRED"))
    assert (agents.pending(), agents.letters()) == ([], [])
    agents.tells(status("INPUT_REQUIRED", at=LATER))
    (approval,) = agents.pending()
    assert approval["message"] == "The agent needs input and has not said what."


def test_events_told_of_again_leave_the_question_open() -> None:
    """The SDK for Python begins tasks at no instant, and asks within a millisecond of its work."""
    agents = Agents()
    began = {"task": {"id": "task-1", "status": {"state": "TASK_STATE_SUBMITTED"}}}
    works = status("WORKING", at="2026-10-06T09:00:05.484274Z")
    asks = status("INPUT_REQUIRED", text(), at="2026-10-06T09:00:05.484345Z")
    agents.tells(began, works, asks, began, works, asks)
    assert (len(agents.pending()), agents.letters()) == (1, [])


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED"])
def test_a_task_that_ends_within_the_millisecond_of_its_question_has_ended(state: str) -> None:
    """Nobody waits for ever for what nobody asks any more."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", text(), at="2026-10-06T09:00:05.484345Z"))
    agents.tells(status(state, at="2026-10-06T09:00:05.484990Z"))
    assert agents.pending() == []


def test_a_question_within_the_second_of_the_answered_one_is_a_new_one() -> None:
    """Agents that write whole seconds could lose it otherwise."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", strands("a"), at=LATER))
    agents.answers(agents.pending()[0], "yes")
    agents.tells(status("INPUT_REQUIRED", at=LATER))
    assert len(agents.pending()) == 1


def test_a_snapshot_without_the_items_is_the_open_question() -> None:
    """GetTask has another timestamp and no artifact; the same stream may also come twice."""
    agents = Agents()
    agents.tells(interrupt_artifact(A), hybrid())
    said = {"state": "TASK_STATE_INPUT_REQUIRED", "timestamp": LATER}
    snapshot = {"kind": "task", "id": "task-1", "contextId": "ctx-1", "status": said}
    agents.tells({"jsonrpc": "2.0", "id": 1, "result": snapshot})
    agents.tells(interrupt_artifact(A), hybrid())
    (approval,) = agents.pending()
    assert approval["interrupt_id"] == A
    assert agents.ended() == []
    assert agents.letters() == []


def test_a_status_without_message_and_time_is_one_question_while_it_is_open() -> None:
    """Only its place in the log tells two of them apart."""
    agents = Agents()
    bare = status("INPUT_REQUIRED", at=None)
    agents.tells(bare, bare)
    (first,) = agents.pending()
    agents.answers(first, "go")
    agents.tells(bare)
    (second,) = agents.pending()
    assert first["run_id"] != second["run_id"]


def test_a_closed_question_told_again_is_read_past_and_counted() -> None:
    """By each snapshot of the task, and by each page of tasks, until the agent goes on."""
    agents = Agents()
    question = status("INPUT_REQUIRED", text())
    agents.tells(question)
    agents.answers(agents.pending()[0], "main")
    told = {"id": "task-1", "status": question["statusUpdate"]["status"]}
    agents.tells(question, {"task": told}, {"tasks": [told]})
    assert (agents.letters(), agents.pending(), len(agents.commands())) == ([], [], 1)
    assert agents.bench.counts["repeats", "agents"] == 3


def test_an_older_status_without_message_is_not_the_open_question_with_items() -> None:
    """It comes late and is published once, as superseded; the open question stays as it is."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", strands(A), at=LATER))
    agents.tells(status("INPUT_REQUIRED", at="2026-10-06T09:00:03Z"))
    assert [view["interrupt_id"] for view in agents.pending()] == [A]
    assert [(status_, reason) for _, status_, reason in agents.ended()] == [
        ("superseded", "superseded")
    ]


def test_a_snapshot_a_moment_older_is_the_open_question_with_items() -> None:
    """LangGraph's GetTask stamps a status a little earlier than its SendMessage."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", strands(A), at="2026-10-06T09:00:05.001Z"))
    agents.tells(status("INPUT_REQUIRED", at="2026-10-06T09:00:05.000Z"))
    assert [view["interrupt_id"] for view in agents.pending()] == [A]
    assert agents.ended() == []


def test_a_closed_question_with_other_words_is_put_aside() -> None:
    """It may be another question under the same id: nothing of it is lost in silence."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", text()))
    agents.answers(agents.pending()[0], "main")
    agents.tells(status("INPUT_REQUIRED", text("And now?")))
    assert agents.letters() == ["run_conflict"]


def test_a_status_told_of_again_after_its_answer_is_no_fault() -> None:
    """The JavaScript SDK's agents begin each turn with the task as it stood."""
    agents = Agents()
    agents.tells(status("INPUT_REQUIRED", text()))
    agents.answers(agents.pending()[0], "main")
    agents.tells(status("INPUT_REQUIRED", text()))
    assert (agents.letters(), agents.pending(), len(agents.commands())) == ([], [], 1)
