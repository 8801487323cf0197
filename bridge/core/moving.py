"""The thread goes on without us: somebody continued, ended or failed the run.

Order within a thread is here too, because only what is not older may close something.
"""

from __future__ import annotations

from typing import Final

from bridge.core import closing
from bridge.core.model import Counted, Decision, Effect, Millis, MovedOn, Run, RunFailed, Thread
from bridge.core.runs import (
    publish_changed,
    put,
    resume_run_id,
    revised,
    with_confirmation,
    with_end,
    with_items,
)


def is_after(at: Millis, generation: int, run: Run) -> bool:
    """Whether something at this point comes after the run; a tie counts as after (arrival).

    Generations decide where both sides have one and they differ.
    """
    if generation > 0 and run.generation > 0 and generation != run.generation:
        return generation > run.generation
    return at >= run.at


def follows(event: MovedOn, run: Run) -> bool:
    """Whether the thread went on after the run.

    Work is told again by each way on which a thread is followed, and its agent may ask within the
    same instant: only a later one, by the agent's own clock, shows that the run is past.
    """
    if event.is_work and not (0 < event.generation != run.generation > 0):
        return event.at > run.at + run.ahead
    return is_after(event.at, event.generation, run)


def moved_on(thread: Thread, event: MovedOn, now: Millis) -> Decision:
    """Confirm our own resume, or withdraw the open run that the event is about.

    Where it tells the thread's end, that is kept with the newest run for as long as it is known.
    """
    decision = _moved_on(thread, event, now)
    if event.covers is None and event.reason in _ENDS:
        return _ended(decision, event)
    return decision


_ENDS: Final = frozenset({"task_ended", "run_failed"})


def _ended(decision: Decision, event: MovedOn) -> Decision:
    """The thread's end, unless a question newer than it is known, or another end."""
    thread = decision.thread
    runs = thread.runs
    if not runs or any(run.ended or not is_after(event.at, event.generation, run) for run in runs):
        return decision
    last, effects = runs[-1], decision.effects
    if last.outcome == "resumed" and event.reason == "run_failed":
        effects = (*effects, Counted("resume_failed", event.thread.source))
    return Decision(put(thread, last, with_end(last)), effects)


def _moved_on(thread: Thread, event: MovedOn, now: Millis) -> Decision:
    resumed = _resumed_by(thread, event)
    if resumed is not None:
        return _confirmed(thread, resumed)
    run = _open_run(thread, event)
    if run is None or not _covers(event, run):
        return Decision(thread)
    closed = closing.close(run, "withdrawn", event.reason, now)
    return Decision(put(thread, run, closed.run), closed.effects)


def run_failed(thread: Thread, event: RunFailed, now: Millis) -> Decision:
    """A late error of an interrupted run: flagged once, or withdrawn if its policy says so."""
    effects: tuple[Effect, ...] = ()
    for run in thread.runs:
        if run.outcome is None and event.at >= run.at:
            changed, news = _failed(run, now)
            thread, effects = put(thread, run, changed), (*effects, *news)
    return Decision(thread, effects) if effects else Decision(thread)


def _failed(run: Run, now: Millis) -> tuple[Run, tuple[Effect, ...]]:
    if run.policy.withdraw_on_failure:
        closed = closing.close(run, "withdrawn", "run_failed", now)
        return closed.run, closed.effects
    items = [i if "run_failed" in i.flags else revised(i, flag="run_failed") for i in run.items]
    flagged = with_items(run, items)
    return flagged, publish_changed(run, flagged)


def _resumed_by(thread: Thread, event: MovedOn) -> Run | None:
    """The resumed run that the event continues: named by our id, else the newest one.

    Without a name it can only be that one where no run is open that it could close instead.
    """
    if event.by_run is not None:
        named = (r for r in thread.runs if r.outcome == "resumed")
        return next((r for r in named if resume_run_id(r) == event.by_run), None)
    if not thread.runs or any(run.outcome is None for run in thread.runs):
        return None
    last = thread.runs[-1]
    is_meant = event.run_id in (None, last.run_id) and last.outcome == "resumed"
    return last if is_meant and follows(event, last) else None


def _confirmed(thread: Thread, run: Run) -> Decision:
    if run.confirmed:
        return Decision(thread)
    return Decision(put(thread, run, with_confirmation(run)))


def _open_run(thread: Thread, event: MovedOn) -> Run | None:
    for run in thread.runs:
        if event.by_run == run.run_id:
            return None  # the start of a run, told again, does not end what it came to ask
        if run.outcome is None and event.run_id in (None, run.run_id):
            return run if follows(event, run) else None
    return None


def _covers(event: MovedOn, run: Run) -> bool:
    """Whether a foreign resume names every interrupt; a partial one leaves the run waiting."""
    if event.covers is None:
        return True
    return {item.question.interrupt_id for item in run.items} <= set(event.covers)
