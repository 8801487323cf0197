"""Contexts of runs: what is kept for which run, what a command gets, and when they go."""

from __future__ import annotations

from typing import Literal, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.core.decide import decide
from bridge.core.model import (
    Context,
    Counted,
    Drop,
    Input,
    Keep,
    Limits,
    Operation,
    Order,
    Origin,
    Outdate,
    Patch,
    RunStarted,
    Thread,
    Tick,
)
from tests.unit.core.builders import (
    APPROVED,
    DAY,
    NOW,
    THREAD,
    answer,
    event,
    opened,
    resumes,
    rules,
    told,
)

HERE = Origin("events", 0, 9, NOW)
CONTEXT = b'{"of":"run-1"}'


def begun(run: str, body: bytes | None = None) -> Keep:
    """The context that a run begins with, or the one that tells whose it is."""
    return Keep(THREAD, run, body or b'{"of":"%s"}' % run.encode(), HERE)


def ended(run: str | None) -> Context:
    return Outdate(THREAD, HERE) if run is None else Drop(THREAD, run, HERE)


def changed(body: bytes) -> Patch:
    """A change to whichever run is under way."""
    return Patch(THREAD, body, HERE)


def kept(thread: Thread) -> dict[str, bytes]:
    return {context.run_id: context.body for context in thread.carry}


def test_a_command_gets_the_context_of_its_run_and_no_newer_one() -> None:
    """A run that begins while another waits has its own context, also once it has ended."""
    waiting = told(Thread(), [begun("run-1"), event("a")]).thread
    for later in ([begun("run-2")], [begun("run-2"), changed(b'{"of":"x"}'), ended("run-2")]):
        [command] = resumes(told(waiting, [*later, answer("a")]))
        assert command.native.body == b"[" + APPROVED + b"," + CONTEXT + b"]"


def test_no_context_of_another_run_stands_in() -> None:
    """A run whose beginning nobody saw is resumed without context."""
    [command] = resumes(told(Thread(), [begun("run-0"), event("a"), answer("a")]))
    assert command.native.notes == ("continuity_omitted",)


@pytest.mark.parametrize(
    "end",
    [
        answer("a"),
        event("z", run="run-2", at=NOW + 1),
        RunStarted(THREAD, "run-2", Order(NOW + 1), HERE, resumes=("a",)),
        Operation(HERE, "withdraw", None, THREAD, "run-1"),
        Operation(HERE, "expire", None, THREAD, "run-1"),
    ],
)
def test_a_run_that_closes_leaves_no_context(end: Input) -> None:
    """However it closes, and nobody else's goes with it."""
    waiting = told(Thread(), [begun("run-1"), event("a"), begun("run-2")]).thread
    assert list(kept(told(waiting, [end]).thread)) == ["run-2"]


def test_a_late_run_leaves_no_context() -> None:
    """It is published once as superseded, and nothing will be sent for it."""
    thread = told(opened("a"), [begun("run-0"), event("o", run="run-0", at=NOW - 1)]).thread
    assert kept(thread) == {}


def test_a_run_that_ends_without_asking_drops_its_own_context() -> None:
    """By its id, or, where an error names no run, that of the run under way."""
    waiting = told(Thread(), [begun("run-1"), event("a"), begun("run-2")]).thread
    for end in (ended("run-2"), ended(None)):
        assert list(kept(told(waiting, [end]).thread)) == ["run-1"]
    asked = told(Thread(), [begun("run-1"), event("a")]).thread
    assert decide(asked, ended(None), NOW, rules()).thread is asked


@pytest.mark.parametrize("again", [begun("run-1", b"{}"), ended("run-1"), changed(b'{"x":1}')])
def test_what_is_told_again_of_a_run_that_asks_changes_nothing(again: Context) -> None:
    """A producer that repeats its records must not undo what came after the first of them."""
    waiting = told(Thread(), [begun("run-1"), event("a")]).thread
    assert decide(waiting, again, NOW, rules()).thread is waiting


def test_a_change_replaces_members_and_null_takes_one_away() -> None:
    """Numbers stay as they were written, in what is new and in what stays."""
    thread = told(Thread(), [begun("run-1", b'{"a":50.0,"b":1,"c":[1e2]}')]).thread
    thread = told(thread, [changed(b'{"b":null,"d":-0.0}')]).thread
    assert kept(thread) == {"run-1": b'{"a":50.0,"c":[1e2],"d":-0.0}'}


def test_a_change_without_a_run_under_way_belongs_nowhere() -> None:
    """It is counted; the context of a run that asks stays as it is."""
    for thread in (Thread(), told(Thread(), [begun("run-1"), event("a")]).thread):
        decision = decide(thread, changed(b'{"of":"x"}'), NOW, rules())
        assert decision.thread is thread
        assert decision.effects == (Counted("unattributable", "support"),)


def test_a_run_on_the_thread_of_its_parent_leaves_the_parents_context() -> None:
    """A child begins and ends on the same thread; what comes then is the parent's again."""
    inputs = [begun("run-1"), begun("child"), ended("child"), changed(b'{"more":1}')]
    assert kept(told(Thread(), inputs).thread) == {"run-1": b'{"of":"run-1","more":1}'}


def test_abandoned_beginnings_are_few() -> None:
    """Runs that never ended make room for newer ones, by number and by bytes; they are counted."""
    decision = told(Thread(), [begun(f"run-{n}") for n in range(6)])
    assert list(kept(decision.thread)) == ["run-2", "run-3", "run-4", "run-5"]
    assert decision.effects == (Counted("carry_dropped", "abandoned"),) * 2
    tight = rules(limits=Limits(carry_bytes=2 * len(CONTEXT)))
    inputs = [begun("run-1"), event("a"), begun("run-2"), begun("run-3"), begun("run-4")]
    assert list(kept(told(Thread(), inputs, given=tight).thread)) == ["run-1", "run-3", "run-4"]


def test_a_context_that_nothing_came_of_is_forgotten() -> None:
    """As long after it as a closed run is remembered, but not while a run of its thread asks."""
    thread = told(Thread(), [begun("run-1")]).thread
    assert decide(thread, Tick(), NOW + 7 * DAY - 1, rules()).thread is thread
    assert decide(thread, Tick(), NOW + 7 * DAY, rules()).thread == Thread()
    waiting = told(thread, [event("a")]).thread
    assert decide(waiting, Tick(), NOW + 30 * DAY, rules()).thread is waiting


RUNS = ("run-1", "run-2", "run-3")
Step = Literal["begin", "change", "end", "fail", "ask", "answer"]


STEPS = st.tuples(st.sampled_from(get_args(Step)), st.sampled_from(RUNS))


@given(st.lists(STEPS, max_size=25))
@settings(max_examples=400, deadline=None)
def test_no_command_has_the_context_of_another_run(story: list[tuple[Step, str]]) -> None:
    """Whatever the order in which runs of a thread begin, change, end, ask and are answered."""
    thread = Thread()
    for step, (what, run) in enumerate(story):
        given_input = {
            "begin": begun(run),
            "change": changed(b'{"step":%d}' % step),
            "end": ended(run),
            "fail": ended(None),
            "ask": event("a", run=run, at=NOW + step),
            "answer": answer("a", run_id=run, offset=step),
        }[what]
        decision = decide(thread, given_input, NOW + step, rules())
        thread = decision.thread
        assert {context.run_id for context in thread.carry} <= set(RUNS)
        for command in resumes(decision):
            others = [b'"of":"%s"' % other.encode() for other in RUNS if other != run]
            assert not any(other in command.native.body for other in others)
        closed = {one.run_id for one in thread.runs if one.outcome is not None}
        assert not closed & set(kept(thread))
