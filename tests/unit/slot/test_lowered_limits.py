"""Limits that are lowered while runs are open keep none of them from being answered or closed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.core.ids import RunKey
from bridge.core.model import (
    Limits,
    RunPolicy,
    SourcePolicy,
    ThreadKey,
)
from bridge.core.record import Record
from bridge.core.schema import SchemaCache
from bridge.protocols import PROTOCOLS
from bridge.slot.desk import Desk, Source
from tests.unit.slot.desk import EVENTS, NOW, TOPICS, Bench, event, raw, sent

LOWERED = Limits(
    interrupts_per_run=1,
    thread_state_bytes=100,
    command_bytes=100,
    payload_bytes=8,
    schema_bytes=1,
    id_bytes=1,
    json_depth=4,
    carry_bytes=1,
)
ONE, TWO = map(RunKey.of(ThreadKey("agents", "", "t-1"), "r-1").approval_id, ("i-1", "i-2"))


def desk(limits: Limits, allowed: tuple[str, ...] = ()) -> Desk:
    policy = SourcePolicy(default_ttl=60_000, run=RunPolicy(allowed_answerers=allowed))
    sources = {EVENTS: Source("agents", PROTOCOLS["ag-ui"], policy)}
    return Desk(0, 1, sources, TOPICS, limits, SchemaCache(16))


def asked(allowed: tuple[str, ...] = ()) -> Bench:
    """A run of two questions, open when the limits are lowered and the slot is restored."""
    before = Bench(desk(Limits(), allowed))
    before.cycle(event(ids=("i-1", "i-2"), message="x" * 2_000))
    return before.restored(desk(LOWERED, allowed))


def answered(approval_id: str, status: str, offset: int = 1, **more: Any) -> Record:
    value = {"approval_id": approval_id, "status": status, **more}
    return raw(json.dumps(value).encode(), TOPICS["answers"], None, offset)


def operation(op: str) -> Record:
    return raw(json.dumps({"op": op, "approval_id": ONE}).encode(), TOPICS["operations"])


def verdicts(outgoing: Any) -> list[str]:
    return [one["verdict"] for one in sent(outgoing, "answer-verdicts")]


@pytest.mark.parametrize("status", ["resolved", "cancelled"])
def test_its_questions_are_answered_by_the_limits_it_came_in_by(status: str) -> None:
    """The run was let in with room for its answers, and it still has it."""
    payload = {"payload": 7} if status == "resolved" else {}
    outgoing = asked().cycle(*(answered(each, status, **payload) for each in (ONE, TWO)))
    assert verdicts(outgoing) == ["accepted", "accepted"]
    assert len(sent(outgoing, "resume-commands")) == 1


def test_time_closes_it_with_a_command() -> None:
    """Not as unresumable: its command fits where it fitted before."""
    outgoing = asked().cycle(now=NOW + 70_000, due=NOW + 70_000)
    assert len(sent(outgoing, "resume-commands")) == 1
    assert not sent(outgoing, "dead-letters")


@pytest.mark.parametrize(("op", "outcome"), [("withdraw", "withdrawn"), ("expire", "resumed")])
def test_operators_close_it(op: str, outcome: str) -> None:
    """Whatever was lowered."""
    outgoing = asked().cycle(operation(op))
    assert verdicts(outgoing) == ["accepted"]
    assert {one["run_outcome"] for one in sent(outgoing, "approvals")} == {outcome}


def test_a_payload_is_still_held_to_the_limit_of_today() -> None:
    """Who sends it can send less, and the question stays open."""
    slot = asked()
    assert verdicts(slot.cycle(answered(ONE, "resolved", payload="x" * 100))) == ["too_large"]
    assert verdicts(slot.cycle(answered(ONE, "resolved", offset=2, payload=1))) == ["accepted"]


def test_what_cancels_is_never_refused_for_its_size() -> None:
    """What there is no room for is left out, and the verdict says so; who may answer is asked of
    the answer as it came."""
    cancels = answered(ONE, "cancelled", metadata={"why": "x" * 100}, answered_by="ann")
    (verdict,) = sent(asked(allowed=("ann",)).cycle(cancels), "answer-verdicts")
    assert verdict["verdict"] == "accepted"
    assert [one["path"] for one in verdict["problems"]] == ["/metadata", "/answered_by"]
