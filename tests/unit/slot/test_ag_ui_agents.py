"""Several AG-UI agents on one thread, through whole cycles; and what field records ask."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from bridge.core.ids import RunKey
from bridge.core.model import (
    Limits,
    RunPolicy,
    SourcePolicy,
    ThreadKey,
)
from bridge.core.record import Header, Record
from bridge.core.schema import SchemaCache
from bridge.protocols import configured
from bridge.slot.desk import Desk, Source
from tests.unit.slot.desk import EVENTS, TOPICS, Bench, answer, raw, sent

POINTER = {"agent_pointer": "/metadata/agentId"}
RUNS = {"triage": "run-triage-1", "billing": "run-billing-1"}


def bench(
    options: Mapping[str, Any], *, continuity: bool = False, withdraws: bool = False
) -> Bench:
    policy = SourcePolicy(run=RunPolicy(withdraw_on_failure=withdraws))
    source = Source("agents", configured("ag-ui", options, continuity), policy)
    return Bench(Desk(0, 1, {EVENTS: source}, TOPICS, Limits(), SchemaCache(16)))


def told(
    event: Mapping[str, Any], offset: int = 0, headers: Sequence[Header] = (), key: str = "thr-54"
) -> Record:
    return raw(json.dumps(event).encode(), EVENTS, key.encode(), offset, headers=headers)


def asks(agent: str, interrupt: str = "ask", **members: Any) -> dict[str, Any]:
    outcome = {"type": "interrupt", "interrupts": [{"id": interrupt, "reason": "tool_call"}]}
    names = {"threadId": "thr-54", "runId": RUNS[agent]}
    return {"type": "RUN_FINISHED", **names, "outcome": outcome, **members}


def said(agent: str) -> dict[str, Any]:
    return {"metadata": {"agentId": agent}}


def resumed(run: str, interrupt: str = "ask", **members: Any) -> dict[str, Any]:
    entries = [{"interruptId": interrupt, "status": "resolved"}]
    return {
        "type": "RUN_STARTED",
        "threadId": "thr-54",
        "runId": run,
        "input": {"resume": entries},
        **members,
    }


def approvals(out: Sequence[Any]) -> list[tuple[str, str]]:
    return [(one["scope"], one["status"]) for one in sent(out, "approvals")]


def both_asked(one: Bench) -> None:
    first = one.cycle(told(asks("triage", **said("triage"))))
    second = one.cycle(told(asks("billing", **said("billing")), 1))
    assert approvals(first) == [("triage", "pending")]
    assert approvals(second) == [("billing", "pending")]


def answered(one: Bench, agent: str) -> Sequence[Any]:
    given = answer("thr-54", RUNS[agent], "ask", scope=agent, offset=len(agent))
    return one.cycle(given)


def test_two_agents_of_one_thread_ask_both_and_are_both_answered() -> None:
    """Neither supersedes the other; each command says whose it is and has a run id of its own."""
    one = bench(POINTER)
    both_asked(one)
    one = one.restored()
    commands = [sent(answered(one, agent), "resume-commands")[0] for agent in RUNS]
    assert [(c["scope"], c["run_id"]) for c in commands] == list(RUNS.items())
    for agent, command in zip(RUNS, commands, strict=True):
        key = RunKey.of(ThreadKey("agents", agent, "thr-54"), RUNS[agent])
        assert command["resume_run_id"] == key.resume_run_id


@pytest.mark.parametrize(
    ("options", "headers", "members", "scope"),
    [
        ({}, (), {}, ""),
        ({}, (), said("triage"), ""),
        ({"agent": "desk"}, (("ag-ui-agent", b"triage"),), said("triage"), "desk"),
        ({}, (("ag-ui-agent", "助手".encode()),), {}, "助手"),
        (POINTER, (("ag-ui-agent", b"header"),), said("triage"), "header"),
        (POINTER, (("ag-ui-agent", b""),), said("triage"), "triage"),
        (POINTER, (), said(""), ""),
        (POINTER, (), {"metadata": None}, ""),
        ({"agent_pointer": "/a~1b/~0"}, (), {"a/b": {"~": "odd"}}, "odd"),
    ],
)
def test_the_agent_is_the_sources_else_the_headers_else_where_the_pointer_leads(
    options: Mapping[str, Any], headers: Sequence[Header], members: Mapping[str, Any], scope: str
) -> None:
    out = bench(options).cycle(told(asks("triage", **members), headers=headers))
    assert approvals(out) == [(scope, "pending")]


def test_an_agent_that_is_no_text_is_counted_and_asks_without_one() -> None:
    one = bench(POINTER)
    out = one.cycle(told(asks("triage", metadata={"agentId": {"id": 7}})))
    out += one.cycle(told(asks("billing"), 1, headers=(("ag-ui-agent", b"\xff"),)))
    assert [scope for scope, _ in approvals(out)] == ["", "", ""]
    assert one.counts["lenient", "agent_no_text"] == 2


def test_in_an_envelope_the_agent_stands_in_the_event() -> None:
    one = bench(POINTER, continuity=True)
    inside = {"event": asks("triage", **said("triage")), "input": {"messages": [{"id": "m-1"}]}}
    one.cycle(told(inside))
    (command,) = sent(answered(one, "triage"), "resume-commands")
    assert command["native"]["body"]["messages"] == [{"id": "m-1"}]


def test_a_resume_elsewhere_closes_the_run_of_its_own_agent_only() -> None:
    """Both ask under one interrupt id, as CrewAI's flows do with the thread's."""
    one = bench(POINTER)
    both_asked(one)
    out = one.cycle(told(resumed("other", **said("billing"))))
    assert approvals(out) == [("billing", "withdrawn")]


@pytest.mark.parametrize(
    "event", [resumed("other"), {"type": "RUN_ERROR", "message": "boom"}], ids=["start", "error"]
)
def test_what_lacks_its_agent_closes_nobodys_run_and_is_counted(event: dict[str, Any]) -> None:
    """Not even that of an agent which never says its name: it may be of any of the thread."""
    one = bench(POINTER, withdraws=True)
    both_asked(one)
    one.cycle(told({**asks("triage"), "runId": "run-nameless"}))
    assert one.cycle(told(event, 3)) == []
    assert one.counts["unattributable", "agents"] == 1


def test_the_start_of_our_own_resume_needs_no_agent_where_the_run_had_none() -> None:
    one = bench(POINTER)
    one.cycle(told(asks("triage")))
    (command,) = sent(one.cycle(answer("thr-54", RUNS["triage"], "ask")), "resume-commands")
    assert one.ledger.unconfirmed == 1
    one.cycle(told(resumed(command["resume_run_id"])))
    assert one.ledger.unconfirmed == 0


def test_each_agent_has_its_own_context() -> None:
    """Of one thread; a snapshot that lacks its agent changes nobody's."""
    one = bench(POINTER, continuity=True)
    for number, agent in enumerate(RUNS):
        names = {"threadId": "thr-54", "runId": RUNS[agent]}
        start = {"type": "RUN_STARTED", **names, **said(agent)}
        snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": agent}], **said(agent)}
        one.cycle(told(start, 3 * number), told(snapshot, 3 * number + 1))
    one.cycle(told({"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "whose"}]}, 8))
    assert one.counts["unattributable", "agents"] == 1
    both_asked(one)
    for agent in RUNS:
        (command,) = sent(answered(one, agent), "resume-commands")
        assert command["native"]["body"]["messages"] == [{"id": agent}]


# --- What the field sends, as it did before agents had names --------------------------------------


def test_explicit_nulls_ask() -> None:
    """Microsoft Agent Framework (.NET) writes every optional member as null."""
    nulls = dict.fromkeys(("message", "responseSchema", "expiresAt", "metadata", "subagentRunId"))
    interrupt = {"id": "ask-1", "reason": "tool_call", "toolCallId": "call-1", **nulls}
    names = {"threadId": "thr-51", "runId": "run-1"}
    rest = dict.fromkeys(("result", "usage", "timestamp", "rawEvent", "metadata"))
    begun = {"type": "RUN_STARTED", **names, "parentRunId": None, "input": None, **rest}
    outcome = {"type": "interrupt", "interrupts": [interrupt]}
    one = bench({})
    one.cycle(told(begun, key="thr-51"))
    out = one.cycle(told({"type": "RUN_FINISHED", **names, "outcome": outcome, **rest}, 1))
    assert approvals(out) == [("", "pending")]
    entry = {"interruptId": "ask-1", "status": "resolved", "payload": None, "metadata": None}
    lists = dict.fromkeys(("tools", "context", "state", "forwardedProps"))
    again = {**names, "runId": "run-2", "messages": [], **lists, "resume": [entry]}
    out = one.cycle(told({**begun, "runId": "run-2", "input": again}, 2, key="thr-51"))
    assert approvals(out) == [("", "withdrawn")]
    error = {"type": "RUN_ERROR", "message": "boom", "code": None, **rest}
    assert one.cycle(told(error, 3, key="thr-51")) == []


def test_what_stands_in_raw_events_asks_nothing() -> None:
    """A success by the protocol, whatever agentscope-java's own events say beside it."""
    names = {"threadId": "thr-52", "runId": "run-1"}
    calls = [{"type": "tool_use", "id": "call-y", "name": "getRates", "state": "pending"}]
    asking = {"type": "REQUIRE_USER_CONFIRM", "replyId": "b2", "toolCalls": calls}
    stopped = {"type": "REQUEST_STOP", "generateReason": "PERMISSION_ASKING"}
    one = bench({})
    for number, event in enumerate((asking, stopped)):
        assert one.cycle(told({"type": "RAW", **names, "event": event}, number)) == []
    assert one.cycle(told({"type": "RUN_FINISHED", **names}, 2, key="thr-52")) == []


def test_a_question_stays_when_its_run_ends_a_second_time() -> None:
    """ml-commons and agentscope-java end a run twice, then with an error."""
    names = {"threadId": "thr-53", "runId": "run-1"}
    interrupt = {"id": "ask-1", "reason": "tool_call", "message": "Release 3 pallets to dock B?"}
    outcome = {"type": "interrupt", "interrupts": [interrupt]}
    end = {"type": "RUN_FINISHED", **names}
    one = bench({})
    one.cycle(told({**end, "outcome": outcome}, key="thr-53"))
    assert one.cycle(told(end, 1, key="thr-53")) == []
    error = {"type": "RUN_ERROR", "message": "stream closed"}
    (flagged,) = sent(one.cycle(told(error, 2, key="thr-53")), "approvals")
    assert (flagged["status"], flagged["flags"]) == ("pending", ["run_failed"])
    assert one.cycle(told(end, 3, key="thr-53")) == []
    (command,) = sent(one.cycle(answer("thr-53", "run-1", "ask-1")), "resume-commands")
    assert command["run_id"] == "run-1"
