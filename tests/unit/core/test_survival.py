"""A new field of what is remembered survives every decision without being named by any.

The runs here have one field more than the model knows, and so have their items and answers.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import asdict, replace

from bridge.core.decide import decide
from bridge.core.ids import RunKey
from bridge.core.model import (
    AcceptedAnswer,
    Decision,
    Input,
    Item,
    Native,
    Operation,
    Order,
    Origin,
    Publish,
    Resume,
    ResumeAnswered,
    Run,
    RunFailed,
    RunStarted,
    SourcePolicy,
    Thread,
    ThreadEnded,
    Tick,
    WentOn,
)
from tests.unit.core.builders import (
    DAY,
    HOUR,
    NOW,
    THREAD,
    answer,
    event,
    question,
    rules,
    run_policy,
    told,
)

HERE = Origin("events", 0, 9, NOW)
LATER = Order(NOW + 1)
OURS = RunKey.of(THREAD, "run-1").resume_run_id
DUE = "2027-01-15T08:00:01Z"  # NOW + 1 s


class WideAnswer(AcceptedAnswer, frozen=True, array_like=True):
    new: str = "lost"


class WideItem(Item, frozen=True, array_like=True):
    new: str = "lost"


class WideRun(Run, frozen=True, array_like=True):
    new: str = "lost"


def widened(thread: Thread) -> Thread:
    """The thread with a value in the new field of everything."""
    runs = []
    for run in thread.runs:
        items = []
        for item in run.items:
            accepted = item.answer and WideAnswer(**_fields(item.answer, new="kept"))
            items.append(WideItem(**_fields(item, answer=accepted, new="kept")))
        runs.append(WideRun(**_fields(run, items=tuple(items), new="kept")))
    return replace(thread, runs=tuple(runs))


def _fields(of: Any, **changes: Any) -> dict[str, Any]:
    return {name: getattr(of, name) for name in of.__struct_fields__} | changes


def waiting(policy: SourcePolicy | None = None) -> Thread:
    """Of three questions one is answered and one cancelled."""
    asked = event(question("a", expires_at_raw=DUE), question("b"), question("c"))
    opened = decide(Thread(), asked, NOW, rules(policy)).thread
    return widened(told(opened, [answer("a"), answer("b", status="cancelled")]).thread)


def resumed() -> Thread:
    return widened(told(waiting(), [answer("c")]).thread)


def after(decision: Decision) -> list[Run]:
    """Every state of run-1 that a decision leaves or tells the world."""
    runs = [run for run in decision.thread.runs if run.run_id == "run-1"]
    for effect in decision.effects:
        if isinstance(effect, Publish | Resume) and effect.run.run_id == "run-1":
            runs.append(effect.run)
    return runs


ABANDONS = Native("CancelTask", b"{}", abandons_siblings=True)
TRANSITIONS: dict[str, tuple[Thread, Input, Any]] = {
    "answered": (waiting(), answer("c"), rules()),
    "cancelled": (waiting(), answer("c", status="cancelled"), rules()),
    "abandoned": (waiting(), answer("c"), rules(build=lambda *_: ABANDONS)),
    "rejected": (waiting(), answer("a", payload=b"0"), rules()),
    "lapsed": (waiting(), Tick(NOW + HOUR), rules()),
    "superseded": (waiting(), event("z", run="run-2", at=NOW + 1), rules()),
    "withdrawn": (waiting(), Operation(HERE, "withdraw", None, THREAD, "run-1"), rules()),
    "expired": (waiting(), Operation(HERE, "expire", None, THREAD, "run-1"), rules()),
    "went on": (waiting(), WentOn(THREAD, LATER, HERE), rules()),
    "continued": (waiting(), RunStarted(THREAD, "x", LATER, HERE, ("a", "b", "c")), rules()),
    "ended": (waiting(), ThreadEnded(THREAD, "task_ended", LATER, HERE), rules()),
    "failed": (waiting(), RunFailed(THREAD, LATER, HERE), rules()),
    "failed and withdrawn": (
        waiting(run_policy(withdraw_on_failure=True)),
        RunFailed(THREAD, LATER, HERE),
        rules(),
    ),
    "confirmed by its start": (resumed(), RunStarted(THREAD, OURS, LATER, HERE), rules()),
    "confirmed by its answer": (resumed(), ResumeAnswered(THREAD, OURS, HERE), rules()),
    "confirmed by a newer run": (resumed(), event("z", run="run-2", at=NOW + 1), rules()),
    "ended after its resume": (
        resumed(),
        ThreadEnded(THREAD, "run_failed", LATER, HERE),
        rules(),
    ),
}


@pytest.mark.parametrize("transition", TRANSITIONS)
def test_a_new_field_survives(transition: str) -> None:
    """Of runs, items and answers, in the memory and in what is told."""
    thread, given, by = TRANSITIONS[transition]
    decision = decide(thread, given, NOW + HOUR, by)
    runs = after(decision)
    assert runs
    for run in runs:
        assert isinstance(run, WideRun)
        assert run.new == "kept"
        for item in run.items:
            assert isinstance(item, WideItem)
            assert item.new == "kept"
        first = run.items[0].answer
        assert isinstance(first, WideAnswer)
        assert first.new == "kept"


def test_a_run_that_cannot_be_resumed_is_as_wide() -> None:
    """Given up because of a question without a refusal."""
    asked = event(question("a"), question("b", flags=("no_refusal",)))
    opened = decide(Thread(), asked, NOW, rules()).thread
    thread = widened(told(opened, [answer("a")]).thread)
    [run] = after(decide(thread, answer("b", status="cancelled"), NOW, rules()))[:1]
    assert run.outcome == "unresumable"
    assert isinstance(run, WideRun)
    assert all(isinstance(item, WideItem) for item in run.items)


def test_only_what_a_decision_is_about_changes() -> None:
    """A flag touches flags and revision, and nothing else of its run."""
    thread = waiting()
    [before] = thread.runs
    [after_] = decide(thread, RunFailed(THREAD, LATER, HERE), NOW, rules()).thread.runs
    left, now = asdict(before), asdict(after_)
    assert {name for name in left if left[name] != now[name]} == {"items"}
    for old, new in zip(before.items, after_.items, strict=True):
        changed = {name for name in _fields(old) if getattr(old, name) != getattr(new, name)}
        assert changed == {"flags", "revision"}


def test_a_forgotten_run_is_gone_with_all_its_fields() -> None:
    """Nothing of it is made anew."""
    assert decide(resumed(), Tick(NOW + 30 * DAY), NOW + 30 * DAY, rules()).thread.runs == ()
