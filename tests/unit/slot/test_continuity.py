"""Continuity through whole cycles: from a run's events to the body of its command."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.core.ids import RunKey, home_slot
from bridge.core.model import (
    Limits,
    SourcePolicy,
    ThreadKey,
)
from bridge.core.record import Record
from bridge.core.schema import SchemaCache
from bridge.protocols import configured
from bridge.slot.desk import Desk, Source
from tests.unit.slot.desk import EVENTS, NOW, TOPICS, Bench, answer, event, raw, sent

_WEEK = 7 * 86_400_000
MESSAGES = b'[{"id":"m-1","role":"user","content":"Ann","n":1e2}]'
EMPTY: dict[str, Any] = {
    "state": {},
    "messages": [],
    "tools": [],
    "context": [],
    "forwardedProps": {},
}


def bench(slot: int = 0, slots: int = 1, **limits: int) -> Bench:
    source = Source("agents", configured("ag-ui", {}, continuity=True), SourcePolicy())
    return Bench(Desk(slot, slots, {EVENTS: source}, TOPICS, Limits(**limits), SchemaCache(16)))


def told(value: bytes | dict[str, Any], key: bytes | None = b"t-1") -> Record:
    return raw(value if isinstance(value, bytes) else json.dumps(value).encode(), EVENTS, key)


def started(thread: str = "t-1", run: str = "r-1", **run_input: Any) -> Record:
    event = {"type": "RUN_STARTED", "threadId": thread, "runId": run}
    return told({**event, "input": run_input} if run_input else event, thread.encode())


def ended(run: str) -> Record:
    return told({"type": "RUN_FINISHED", "threadId": "t-1", "runId": run})


SNAPSHOT = told(b'{"type":"MESSAGES_SNAPSHOT","messages":%s}' % MESSAGES)


def native(out: Any) -> dict[str, Any]:
    (command,) = sent(out, "resume-commands")
    return dict(command["native"])


def test_a_stateless_agents_stream_is_resumed_with_its_conversation() -> None:
    """As Pydantic AI and Agent Framework send it: no input, a snapshot, then the question."""
    one = bench()
    one.cycle(started(), SNAPSHOT, event())
    out = one.restored().cycle(answer())
    assert native(out)["notes"] == []
    (command,) = [each for each in out if each.topic == "resume-commands"]
    assert command.value is not None
    assert b'"messages":' + MESSAGES in command.value


def test_the_input_of_the_start_fills_what_no_snapshot_told() -> None:
    """The messages of the start are marked as such, until a snapshot replaces them."""
    start = started(messages=[{"id": "m-0"}], state={"n": 1}, tools=[{"name": "ask"}])
    body = native(bench().cycle(start, event(), answer()))
    assert body["notes"] == ["messages_at_start"]
    assert body["body"]["messages"] == [{"id": "m-0"}]
    body = native(bench().cycle(start, SNAPSHOT, event(), answer()))
    assert body["notes"] == []
    assert body["body"]["messages"] == json.loads(MESSAGES)
    assert (body["body"]["state"], body["body"]["tools"]) == ({"n": 1}, [{"name": "ask"}])


def test_an_envelope_is_enough() -> None:
    """A platform that puts nothing but ends of runs on the topic."""
    inside = event().value
    assert inside is not None
    record = told(b'{"event":%s,"input":{"messages":%s}}' % (inside, MESSAGES))
    body = native(bench().cycle(record, answer()))
    assert body["notes"] == []
    assert body["body"]["messages"] == json.loads(MESSAGES)


def test_a_state_that_changed_by_a_delta_is_not_sent() -> None:
    """Nothing outdated is: a later snapshot brings it back."""
    delta = told({"type": "STATE_DELTA", "delta": []})
    start = (started(state={"n": 1}), SNAPSHOT)
    body = native(bench().cycle(*start, delta, event(), answer()))
    assert (body["notes"], body["body"]["state"]) == (["state_omitted"], {})
    now = told({"type": "STATE_SNAPSHOT", "snapshot": {"n": 2}})
    body = native(bench().cycle(*start, delta, now, event(), answer()))
    assert (body["notes"], body["body"]["state"]) == ([], {"n": 2})


def test_a_snapshot_of_nobody_is_counted_and_unused() -> None:
    """A key that is no thread with a run under way attributes nothing; a run that asks is over."""
    one = bench()
    one.cycle(started("t-2"), event())
    one.cycle(SNAPSHOT)
    assert one.counts["unattributable", "agents"] == 1


REFUSED = [
    pytest.param(b'{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m-2"', "not_json", id="cut"),
    pytest.param(b"\xff\xfe" + (SNAPSHOT.value or b""), "not_json", id="utf-16"),
    pytest.param(b'{"type":"MESSAGES_SNAPSHOT","messages":["%s"]}' % (b"m" * 5_000), "too_large"),
]


@pytest.mark.parametrize(("value", "reason"), REFUSED)
def test_a_refused_record_leaves_no_outdated_context(value: bytes, reason: str) -> None:
    """It may have been the snapshot that replaces the one before: no command goes back to that."""
    one = bench(record_bytes=4_000)
    out = one.cycle(started(messages=[{"id": "m-0"}]), SNAPSHOT, told(value), event())
    (letter,) = [each for each in out if each.topic == "dead-letters"]
    assert dict(letter.headers)["bridge-reason"] == reason.encode()
    body = native(one.cycle(answer()))
    assert (body["notes"], body["body"]["messages"]) == (["continuity_omitted"], [])


def test_a_refused_record_goes_home_before_it_is_set_aside() -> None:
    """One hop and one dead letter, at the home of the thread that its key names."""
    home = home_slot("t-1", 2)
    broken = told(b"{not json")
    away, there = (bench(slot=slot, slots=2) for slot in (1 - home, home))
    assert [each.topic for each in away.cycle(broken)] == ["reroute"]
    assert [each.topic for each in there.cycle(broken, rerouted=True)] == ["dead-letters"]


def test_a_refused_record_that_no_topic_need_take_is_set_aside_where_it_is() -> None:
    """What is beyond the limits of the bridge's own topics never stops a slot."""
    away = bench(slot=1 - home_slot("t-1", 2), slots=2)
    assert [each.topic for each in away.cycle(told(b"m" * 1_100_000))] == ["dead-letters"]


def test_a_context_that_is_too_large_leaves_the_question_alone() -> None:
    """The event counts; only its context is given up, and it is counted."""
    one = bench(carry_bytes=20)
    one.cycle(started(), SNAPSHOT, event())
    assert one.counts["carry_dropped", "too_large"] == 1
    body = native(one.cycle(answer()))
    assert body["notes"] == ["continuity_omitted"]
    assert {name: body["body"][name] for name in EMPTY} == EMPTY


def test_a_command_that_would_be_too_large_goes_without_its_context() -> None:
    """Continuity goes first, with its note; the answers go out."""
    body = native(bench(command_bytes=3_000).cycle(
        started(), told({"type": "MESSAGES_SNAPSHOT", "messages": ["m" * 3_000]}), event(), answer()
    ))  # fmt: skip
    assert (body["notes"], body["body"]["messages"]) == (["continuity_omitted"], [])


def test_a_run_without_a_question_leaves_nothing_behind() -> None:
    """Within one cycle it writes nothing; over two it takes away what it wrote."""
    one = bench()
    one.cycle(started(), SNAPSHOT, ended("r-1"))
    assert one.log == {}
    one.cycle(started(run="r-2"))
    one.cycle(ended("r-2"))
    assert list(one.log.values()) == [None]
    assert not one.ledger.contents().carried


def test_a_beginning_without_an_end_is_forgotten() -> None:
    """Its timer takes it, after a restore too."""
    one = bench()
    one.cycle(started())
    later = one.restored()
    later.cycle(now=NOW + _WEEK, due=NOW + _WEEK - 1)
    assert later.ledger.contents().carried
    later.cycle(now=NOW + _WEEK, due=NOW + _WEEK)
    assert not later.ledger.contents().carried


def test_timers_of_contexts_that_went_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy source begins and ends runs all week; those that stand are kept."""
    monkeypatch.setattr("bridge.slot.ledger.MOST_POINTLESS", 10)
    one = bench()
    one.cycle(event(thread="t-2"), answer(thread="t-2"))
    for number in range(100):
        one.cycle(started(run=f"r-{number}"), now=NOW + number)
        one.cycle(ended(f"r-{number}"), now=NOW + number)
    assert len(one.ledger.timers) <= 16
    one.cycle(now=NOW + _WEEK, due=NOW + _WEEK)
    assert not one.ledger.contents().threads


def test_dropping_what_nobody_kept_costs_no_record() -> None:
    """Most runs of a source that keeps nothing end without a question."""
    one = bench()
    work = one.engine.work([ended("r-1")], now=NOW)
    assert not work.is_worth_it
    assert not work.decoded


THREADS, RUNS = ("t-1", "t-2"), ("r-1", "r-2")
KINDS = ("start", "start with input", "snapshot", "end", "ask", "envelope", "error", "answer")
STORIES = st.lists(
    st.tuples(st.sampled_from(KINDS), st.sampled_from(THREADS), st.sampled_from(RUNS)), max_size=20
)


def _record(kind: str, thread: str, run: str, step: int) -> Record:
    mark = [f"{thread} {step}"]
    names = {"threadId": thread, "runId": run}
    asks = json.loads(event(thread, run).value or b"")
    values: dict[str, Any] = {
        "start": {"type": "RUN_STARTED", **names},
        "start with input": {"type": "RUN_STARTED", **names, "input": {"messages": mark}},
        "snapshot": {"type": "MESSAGES_SNAPSHOT", "messages": mark},
        "end": {"type": "RUN_FINISHED", **names},
        "ask": asks,
        "envelope": {"event": asks, "input": {"messages": mark}},
        "error": {"type": "RUN_ERROR", "message": "m"},
    }
    if kind == "answer":
        return answer(thread, run, offset=step, at=NOW + step)
    return raw(json.dumps(values[kind]).encode(), EVENTS, thread.encode(), step, NOW + step)


@given(STORIES)
@settings(max_examples=300, deadline=None)
def test_no_command_has_messages_of_another_thread_or_of_later(
    story: list[tuple[str, str, str]],
) -> None:
    """Whatever two threads tell in between: a command has what its run told before it asked."""
    one = bench()
    asked: dict[str, int] = {}
    for step, (kind, thread, run) in enumerate(story):
        out = one.cycle(_record(kind, thread, run, step), now=NOW + step)
        one = one.restored()
        if any(a["status"] == "pending" and a["revision"] == 1 for a in sent(out, "approvals")):
            asked[RunKey.of(ThreadKey("agents", "", thread), run).command_id] = step
        for command in sent(out, "resume-commands"):
            for message in command["native"]["body"]["messages"]:
                whose, when = message.split()
                assert whose == command["thread_id"]
                assert int(when) <= asked[command["command_id"]]
