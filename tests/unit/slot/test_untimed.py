"""Events whose records have no usable timestamp, in all three protocols.

They are never too old: their own instant is their place, or they are refused and told how to mend
it, or their source takes them as of their arrival.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from bridge.core.model import Limits, SourcePolicy
from bridge.core.record import Record
from bridge.core.schema import SchemaCache
from bridge.protocols import configured
from bridge.records.outgoing import Outgoing
from bridge.slot.desk import Desk, Source
from tests.unit.protocols.a2a_events import status
from tests.unit.protocols.genkit_turns import output, request, snapshot
from tests.unit.slot.desk import EVENTS, NOW, TOPICS, Bench, answer, raw, sent

UNUSABLE = (0, -1, NOW // 1_000, NOW * 1_000, -62_135_596_800_000)
OWN = datetime.fromtimestamp(NOW / 1_000, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
DAY = 86_400_000
OPTIONS: dict[str, dict[str, object]] = {
    "ag-ui": {},
    "a2a": {},
    "genkit": {"agent": "bank", "runtime": "js", "tools": {"pay": {"action": "restart"}}},
}


def ag_ui(kind: str = "RUN_FINISHED", **members: Any) -> dict[str, Any]:
    return {"type": kind, "threadId": "t-1", "runId": "r-1", **members}


ASKS = {"type": "interrupt", "interrupts": [{"id": "i-1", "reason": "tool_call"}]}
# The same question without and with an instant of its own.
EVENTS_OF: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ag-ui": (ag_ui(outcome=ASKS), ag_ui(outcome=ASKS, timestamp=NOW)),
    "a2a": (
        status("INPUT_REQUIRED", {"text": "sure?"}, at=None),
        status("INPUT_REQUIRED", {"text": "sure?"}, at=OWN),
    ),
    "genkit": (
        {**output(request())},
        snapshot(request(), createdAt=OWN),
    ),
}


def bench(protocol: str, untimed: bool = False) -> Bench:
    policy = SourcePolicy(takes_untimed=untimed)
    source = Source("agents", configured(protocol, OPTIONS[protocol], False), policy)
    return Bench(Desk(0, 1, {EVENTS: source}, TOPICS, Limits(), SchemaCache(16)))


def record(event: Any, at: int, offset: int = 0) -> Record:
    return raw(json.dumps(event).encode(), EVENTS, b"t-1", offset, at)


def letters(outgoing: list[Outgoing]) -> list[dict[str, str]]:
    found = [dict(one.headers) for one in outgoing if one.topic == "dead-letters"]
    return [{name: (value or b"").decode() for name, value in one.items()} for one in found]


@pytest.mark.parametrize("at", UNUSABLE)
@pytest.mark.parametrize("protocol", OPTIONS)
def test_without_an_instant_the_event_is_refused_and_says_how_to_mend_it(
    protocol: str, at: int
) -> None:
    """Not `too_old`: nobody knows how old it is, and who reads that looks for a replay."""
    slot = bench(protocol)
    outgoing = slot.cycle(record(EVENTS_OF[protocol][0], at))
    (letter,) = letters(outgoing)
    assert letter["bridge-reason"] == "no_timestamp"
    assert "message.timestamp.type=LogAppendTime" in letter["bridge-detail"]
    assert ("in seconds" in letter["bridge-detail"]) == (at == NOW // 1_000)
    assert not sent(outgoing, "approvals")


@pytest.mark.parametrize("at", UNUSABLE)
@pytest.mark.parametrize("protocol", OPTIONS)
def test_an_instant_of_its_own_is_its_place(protocol: str, at: int) -> None:
    """It is asked, once, however often the record comes again."""
    slot = bench(protocol)
    (approval,) = sent(slot.cycle(record(EVENTS_OF[protocol][1], at)), "approvals")
    assert approval["status"] == "pending"
    assert not slot.cycle(record(EVENTS_OF[protocol][1], at, offset=1))


@pytest.mark.parametrize("protocol", OPTIONS)
def test_an_instant_of_its_own_is_its_age(protocol: str) -> None:
    """A replay of such records, after closed runs are forgotten, asks nothing again."""
    (letter,) = letters(
        bench(protocol).cycle(record(EVENTS_OF[protocol][1], -1), now=NOW + 8 * DAY)
    )
    assert letter["bridge-reason"] == "too_old"


@pytest.mark.parametrize("at", UNUSABLE)
@pytest.mark.parametrize("protocol", OPTIONS)
def test_a_source_may_take_it_as_of_its_arrival(protocol: str, at: int) -> None:
    """Asked once and resumed once; the same record again changes nothing, before and after."""
    slot, asks = bench(protocol, untimed=True), EVENTS_OF[protocol][0]
    (approval,) = sent(slot.cycle(record(asks, at)), "approvals")
    assert not slot.cycle(record(asks, at, offset=1), now=NOW + 1)
    given = {"approval_id": approval["approval_id"], "status": "resolved", "payload": {"ok": True}}
    answered = raw(json.dumps(given).encode(), TOPICS["answers"], None, 2, NOW + 2)
    assert len(sent(slot.cycle(answered, now=NOW + 2), "resume-commands")) == 1
    again = slot.cycle(record(asks, at, offset=3), now=NOW + 3)
    assert not sent(again, "approvals")
    assert not sent(again, "resume-commands")


@pytest.mark.parametrize("own", ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"])
def test_an_unusable_instant_of_its_own_is_none(own: str) -> None:
    """Go writes the year 1 for a time that nobody set: the record's counts, for each question."""
    slot = bench("a2a")
    asks = [status("INPUT_REQUIRED", {"text": text}, at=own, message_id=text) for text in "ab"]
    first = sent(slot.cycle(record(asks[0], NOW)), "approvals")
    second = sent(slot.cycle(record(asks[1], NOW + 1, offset=1), now=NOW + 1), "approvals")
    assert [one["status"] for one in (*first, *second)] == ["pending", "superseded", "pending"]
    done = slot.cycle(record(status("COMPLETED", at=own), NOW + 2, offset=2), now=NOW + 2)
    assert [one["closed_reason"] for one in sent(done, "approvals")] == ["task_ended"]


MOVES: dict[str, Callable[[], dict[str, Any]]] = {
    "started": lambda: ag_ui(
        "RUN_STARTED",
        runId="r-2",
        input={"resume": [{"interruptId": "i-1", "status": "resolved"}]},
    ),
    "failed": lambda: ag_ui("RUN_ERROR", message="broken"),
}


@pytest.mark.parametrize("untimed", [False, True])
@pytest.mark.parametrize("move", MOVES)
def test_what_would_close_or_flag_a_run_is_not_passed_over_in_silence(
    move: str, untimed: bool
) -> None:
    """An unusable stamp is older than every question: the question would wait for ever."""
    slot = bench("ag-ui", untimed)
    slot.cycle(record(EVENTS_OF["ag-ui"][0], NOW))
    outgoing = slot.cycle(record(MOVES[move](), 0, offset=1), now=NOW + 1)
    assert [one["bridge-reason"] for one in letters(outgoing)] == (
        [] if untimed else ["no_timestamp"]
    )
    assert len(sent(outgoing, "approvals")) == untimed


def test_what_changes_nothing_needs_no_place() -> None:
    """Producers without a clock start runs too: no letter for each of them."""
    slot = bench("ag-ui")
    slot.cycle(record(EVENTS_OF["ag-ui"][0], NOW))
    assert not slot.cycle(record(ag_ui("RUN_STARTED", runId="r-2"), 0, offset=1))
    assert not slot.cycle(record(ag_ui("RUN_ERROR", message="m", threadId="t-9"), 0, offset=2))


def test_the_start_of_our_resume_is_known_by_its_id() -> None:
    """It confirms the command, whatever its record is stamped with."""
    slot = bench("ag-ui")
    slot.cycle(record(EVENTS_OF["ag-ui"][0], NOW))
    (command,) = sent(slot.cycle(answer()), "resume-commands")
    assert slot.ledger.unconfirmed == 1
    slot.cycle(record(ag_ui("RUN_STARTED", runId=command["resume_run_id"]), 0, offset=1))
    assert slot.ledger.unconfirmed == 0
