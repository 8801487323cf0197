"""A bridge without a broker: what its users rely on, and time, hops and crashes without Kafka."""

from __future__ import annotations

import doctest
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import bridge.testing
from bridge.records import Answer, Operation, answer_for, encode
from bridge.testing import SlotDriver

EVENTS = "agents.run-finished"
SOURCE = {"name": "agents", "protocol": "ag-ui", "topic": EVENTS}


def question(thread: str, *ids: str, run: str = "run-1", **members: Any) -> dict[str, Any]:
    interrupts = [{"id": each, "reason": "tool_call", **members} for each in ids or ("int-1",)]
    return {
        "type": "RUN_FINISHED",
        "threadId": thread,
        "runId": run,
        "outcome": {"type": "interrupt", "interrupts": interrupts},
    }


def shown(driver: SlotDriver) -> list[tuple[str, bytes | None, bytes | None]]:
    """All that others read, without when it was written."""
    return [(each.topic, each.key, each.value) for each in driver.written]


def test_the_example_runs() -> None:
    """What the module shows is what it does."""
    failed, tried = doctest.testmod(bridge.testing)
    assert (failed, tried > 5) == (0, True)


def test_the_page_shows_what_runs() -> None:
    """The program of docs/testing.md, as it stands there."""
    page = Path(__file__).parents[3] / "docs/testing.md"
    (program,) = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)
    assert len(names["bridge"].commands()) == 1


def test_records_under_any_key_find_their_home() -> None:
    """Events without a key, answers by approval id alone: one hop, one verdict, one command."""
    driver = SlotDriver(SOURCE, slots=4)
    threads = [f"thread-{number}" for number in range(12)]
    for number, thread in enumerate(threads):
        driver.send(EVENTS, question(thread), partition=number % 4)
    assert sorted(each.thread_id for each in driver.pending()) == sorted(threads)
    for each in driver.pending():
        driver.answer(Answer(status="cancelled", approval_id=each.approval_id), key="elsewhere")
    assert [each.verdict for each in driver.verdicts()] == ["accepted"] * 12
    assert sorted(each.thread_id for each in driver.commands()) == sorted(threads)
    assert driver.counts["rerouted", EVENTS] > 0


def test_a_topic_that_nobody_reads_is_refused() -> None:
    """A misspelt topic would wait for ever."""
    with pytest.raises(ValueError, match="read by no slot"):
        SlotDriver(SOURCE).send("agents.run-finish", question("thread-1"))


def test_what_is_refused_has_its_verdict_and_its_letter() -> None:
    """An event that is none, and an answer that is none."""
    driver = SlotDriver(SOURCE)
    driver.send(EVENTS, "no json", key="thread-1")
    driver.answer(b"[]")
    reasons = [letter.reason for letter in driver.dead_letters()]
    assert (reasons[0], len(reasons)) == ("not_json", 2)
    assert [verdict.verdict for verdict in driver.verdicts()] == ["malformed"]


def test_an_operator_takes_a_run_back() -> None:
    """An operation has a verdict as an answer has."""
    driver = SlotDriver(SOURCE)
    driver.send(EVENTS, question("thread-1"), key="thread-1")
    (approval,) = driver.pending()
    driver.operate(Operation(op="withdraw", approval_id=approval.approval_id, reason="by mistake"))
    assert [verdict.verdict for verdict in driver.verdicts()] == ["accepted"]
    assert [each.run_outcome for each in driver.approvals()] == ["withdrawn"]
    assert driver.commands() == []


# --- Time -----------------------------------------------------------------------------------------


def test_a_question_expires_a_grace_after_its_instant() -> None:
    """An answer that is on its way home at the instant comes first, for as long as a hop takes."""
    driver = SlotDriver(SOURCE, policy={"default_ttl": "1h"}, worker={"reroute_grace": "2s"})
    driver.send(EVENTS, question("thread-1"), key="thread-1")
    driver.advance(3_601.9)
    assert [each.status for each in driver.approvals()] == ["pending"]
    driver.advance(0.1)
    assert [each.status for each in driver.approvals()] == ["expired"]
    (command,) = driver.commands()
    assert command.completed_by == "expiry"
    assert command.issued_at - driver.approvals()[0].published_at == timedelta(seconds=3_602)


def test_a_takeover_holds_what_was_due_meanwhile() -> None:
    """Nothing that came due while nobody served the slot happens before the grace has passed."""
    driver = SlotDriver(SOURCE, policy={"default_ttl": "60s"}, worker={"takeover_grace": "30s"})
    driver.send(EVENTS, question("thread-1"), key="thread-1")
    driver.advance(55)
    driver.crash()
    driver.advance(29.9)
    assert [each.status for each in driver.approvals()] == ["pending"]
    driver.advance(0.1)
    assert [each.status for each in driver.approvals()] == ["expired"]


def test_an_answer_in_time_that_was_not_read_wins_over_a_takeover() -> None:
    """It lay on the topic before the deadline; that nobody served the slot is not its fault."""
    driver = SlotDriver(SOURCE, policy={"default_ttl": "60s"})
    driver.send(EVENTS, question("thread-1"), key="thread-1")
    driver.advance(59)
    (approval,) = driver.pending()
    given = answer_for(approval, payload=True)
    sent = encode(given)
    in_time = driver.now
    driver.crash()
    driver.send("bridge.answers", sent.value, sent.key, at=in_time, work=False)
    driver.advance(30)
    assert [verdict.verdict for verdict in driver.verdicts()] == ["accepted"]
    assert [command.completed_by for command in driver.commands()] == ["answers"]


def test_a_clock_that_jumps_does_everything_once() -> None:
    """A year in one step: expiry, then the run is forgotten, each at its own instant."""
    driver = SlotDriver(SOURCE, slots=2, policy={"default_ttl": "1h"})
    for number in range(6):
        driver.send(EVENTS, question(f"thread-{number}"), key=f"thread-{number}")
    driver.advance(365 * 86_400)
    assert len(driver.commands()) == 6
    assert driver.approvals() == []
    gone = [each.key for each in driver.read("approvals") if each.value is None]
    assert len(gone) == len(set(gone)) == 6


def test_an_early_answer_waits_for_its_question() -> None:
    """For as long as the source says, and not for ever."""
    driver = SlotDriver(SOURCE, policy={"early_answer_ttl": "15m"})
    early = {"source": "agents", "thread_id": "thread-1", "run_id": "run-1", "status": "cancelled"}
    driver.answer({**early, "interrupt_id": "int-1"})
    driver.answer({**early, "interrupt_id": "never"})
    assert driver.verdicts() == []
    driver.send(EVENTS, question("thread-1"), key="thread-1")
    assert [verdict.verdict for verdict in driver.verdicts()] == ["accepted"]
    driver.advance(15 * 60 + 2)
    assert [verdict.verdict for verdict in driver.verdicts()] == ["accepted", "unknown"]


# --- Crashes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("slots", [1, 3])
def test_what_was_not_committed_is_done_again_to_the_letter(slots: int) -> None:
    """The same ids, the same records, once each: whoever reads cannot tell that it crashed."""
    whole, crashed = SlotDriver(SOURCE, slots=slots), SlotDriver(SOURCE, slots=slots)
    for driver in (whole, crashed):
        for number in range(5):
            event = question(f"thread-{number}", "int-1", "int-2")
            driver.send(EVENTS, event, key=f"thread-{number}", work=driver is whole)
            if driver is crashed:
                driver.crash()
                driver.work()
        for approval in driver.pending():
            sent = encode(answer_for(approval, payload={"n": 1.50}))
            driver.send("bridge.answers", sent.value, sent.key, work=driver is whole)
            if driver is crashed:
                driver.crash()
                driver.work()
    assert shown(crashed) == shown(whole)
    assert len(crashed.commands()) == 5


def test_one_slot_crashes_beside_others() -> None:
    """What another slot knows is none of its business."""
    driver = SlotDriver(SOURCE, slots=4)
    for number in range(8):
        driver.send(EVENTS, question(f"thread-{number}"), key=f"thread-{number}")
    before = driver.pending()
    driver.crash(2)
    for approval in before:
        driver.answer(answer_for(approval, payload=None))
    assert [verdict.verdict for verdict in driver.verdicts()] == ["accepted"] * 8
    assert len(driver.commands()) == 8


def test_more_than_a_cycle_takes_is_more_cycles() -> None:
    """`cycle_max` bounds a transaction, and loses nothing."""
    driver = SlotDriver(SOURCE, limits={"cycle_max": 2})
    for number in range(7):
        driver.send(EVENTS, question(f"thread-{number}"), key=f"thread-{number}", work=False)
    driver.work()
    assert len(driver.pending()) == 7


def test_more_than_a_cycle_takes_waits_for_the_next_one() -> None:
    """Also behind records that gave nothing to write, and on a partition not read before."""
    driver = SlotDriver(SOURCE, limits={"cycle_max": 2})
    for _ in range(3):
        driver.send(EVENTS, None, work=False)
    for number in range(3):
        driver.send(EVENTS, question(f"thread-{number}"), partition=number, work=False)
    driver.crash()
    driver.work()
    assert {one.thread_id for one in driver.pending()} == {"thread-0", "thread-1", "thread-2"}
