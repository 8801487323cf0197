"""The thread goes on without us: somebody continued, ended or failed the run.

Only what comes after a run may close it.
"""

from __future__ import annotations

from typing import assert_never

from bridge.core import closing
from bridge.core.ids import key_of
from bridge.core.model import (
    ClosedReason,
    Counted,
    Decision,
    Effect,
    Millis,
    Movement,
    Order,
    ResumeAnswered,
    ResumeSeen,
    Run,
    RunFailed,
    RunStarted,
    Thread,
    ThreadEnded,
    WentOn,
)
from bridge.core.order import is_after
from bridge.core.runs import (
    publish_changed,
    put,
    revised,
    with_confirmation,
    with_end,
    with_items,
)


def moved(thread: Thread, event: Movement, now: Millis) -> Decision:
    """What it means for the thread's questions that it goes on."""
    match event:
        case RunStarted():
            return run_started(thread, event, now)
        case WentOn():
            return _past(thread, event.order, "moved_on", now)
        case ThreadEnded():
            return thread_ended(thread, event, now)
        case ResumeAnswered():
            return resume_answered(thread, event)
        case ResumeSeen():
            return resume_seen(thread, event)
        case RunFailed():
            return run_failed(thread, event, now)
        case _:
            assert_never(event)


def run_started(thread: Thread, event: RunStarted, now: Millis) -> Decision:
    """Confirm our own resume, or withdraw the open run if another one answers all it asks.

    One that answers a part of it leaves the run waiting.
    """
    ours = _resumed_as(thread, event.run_id)
    if ours is not None:
        return _confirmed(thread, ours)
    for run in thread.runs:
        if run.run_id == event.run_id:
            break  # the start of a run, told again, does not end what it came to ask
        if run.outcome is None:
            asks = {item.question.interrupt_id for item in run.items}
            if asks <= set(event.resumes) and is_after(event.order, run):
                return _withdrawn(thread, run, "resumed_elsewhere", now)
            break
    return Decision(thread)


def resume_answered(thread: Thread, event: ResumeAnswered) -> Decision:
    """Confirm the resume that the request was of."""
    ours = _resumed_as(thread, event.resume_run_id)
    return Decision(thread) if ours is None else _confirmed(thread, ours)


def resume_seen(thread: Thread, event: ResumeSeen) -> Decision:
    """Confirm the newest run's resume, unless the event is about another run."""
    last = _resumed_last(thread, event.order)
    if last is None or event.run_id not in (None, last.run_id):
        return Decision(thread)
    return _confirmed(thread, last)


def thread_ended(thread: Thread, event: ThreadEnded, now: Millis) -> Decision:
    """As one that went on; and the end is kept with the newest run for as long as it is known,
    unless a question newer than it is known, or another end.
    """
    past = _past(thread, event.order, event.reason, now)
    runs, effects = past.thread.runs, past.effects
    if not runs or any(run.ended or not is_after(event.order, run) for run in runs):
        return past
    last = runs[-1]
    if last.outcome == "resumed" and event.reason == "run_failed":
        effects = (*effects, Counted("resume_failed", event.thread.source))
    return Decision(put(past.thread, last, with_end(last)), effects)


def run_failed(thread: Thread, event: RunFailed, now: Millis) -> Decision:
    """A late error of an interrupted run: flagged once, or withdrawn if its policy says so."""
    effects: tuple[Effect, ...] = ()
    for run in thread.runs:
        if run.outcome is not None or not is_after(event.order, run):
            continue
        if run.policy.withdraw_on_failure:
            failed = _withdrawn(thread, run, "run_failed", now)
            thread, effects = failed.thread, (*effects, *failed.effects)
            continue
        items = [i if "run_failed" in i.flags else revised(i, flag="run_failed") for i in run.items]
        flagged = with_items(run, items)
        news = publish_changed(run, flagged)
        if news:
            thread, effects = put(thread, run, flagged), (*effects, *news)
    return Decision(thread, effects)


def _past(thread: Thread, order: Order, reason: ClosedReason, now: Millis) -> Decision:
    """Withdraw the open run that the thread has left behind; else confirm the newest's resume."""
    last = _resumed_last(thread, order)
    if last is not None:
        return _confirmed(thread, last)
    run = next((run for run in thread.runs if run.outcome is None), None)
    if run is None or not is_after(order, run):
        return Decision(thread)
    return _withdrawn(thread, run, reason, now)


def _resumed_as(thread: Thread, resume_id: str) -> Run | None:
    """The run that this bridge resumed under that id."""
    resumed = (run for run in thread.runs if run.outcome == "resumed")
    return next((run for run in resumed if key_of(run).resume_run_id == resume_id), None)


def _resumed_last(thread: Thread, order: Order) -> Run | None:
    """The newest run, where it was resumed before that and none waits for answers."""
    if not thread.runs or any(run.outcome is None for run in thread.runs):
        return None
    last = thread.runs[-1]
    return last if last.outcome == "resumed" and is_after(order, last) else None


def _confirmed(thread: Thread, run: Run) -> Decision:
    if run.confirmed:
        return Decision(thread)
    return Decision(put(thread, run, with_confirmation(run)))


def _withdrawn(thread: Thread, run: Run, reason: ClosedReason, now: Millis) -> Decision:
    closed = closing.close(run, "withdrawn", reason, now)
    return Decision(put(thread, run, closed.run), closed.effects)
