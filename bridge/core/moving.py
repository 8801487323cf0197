"""The thread goes on without us: somebody continued, ended or failed the run.

Order within a thread is here too, because only what is not older may close something.
"""

from __future__ import annotations

from bridge.core import closing
from bridge.core.model import Decision, Effect, Millis, MovedOn, Run, RunFailed, Thread
from bridge.core.runs import (
    publish_changed,
    put,
    resume_run_id,
    revised,
    with_confirmation,
    with_items,
)


def is_after(at: Millis, generation: int, run: Run) -> bool:
    """Whether something at this point comes after the run; a tie counts as after (arrival).

    Generations decide where both sides have one and they differ.
    """
    if generation > 0 and run.generation > 0 and generation != run.generation:
        return generation > run.generation
    return at >= run.at


def moved_on(thread: Thread, event: MovedOn, now: Millis) -> Decision:
    """Confirm our own resume, or withdraw the open run that the event is about."""
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
    """The resumed run that the event continues: named by our id, or the newest if nothing is."""
    if event.by_run is None:
        last = thread.runs[-1] if thread.runs else None
        named = last is not None and event.run_id in (None, last.run_id)
        fits = named and last is not None and is_after(event.at, event.generation, last)
        return last if fits and last is not None and last.outcome == "resumed" else None
    for run in thread.runs:
        if run.outcome == "resumed" and resume_run_id(run) == event.by_run:
            return run
    return None


def _confirmed(thread: Thread, run: Run) -> Decision:
    if run.confirmed:
        return Decision(thread)
    return Decision(put(thread, run, with_confirmation(run)))


def _open_run(thread: Thread, event: MovedOn) -> Run | None:
    for run in thread.runs:
        if run.outcome is None and event.run_id in (None, run.run_id):
            return run if is_after(event.at, event.generation, run) else None
    return None


def _covers(event: MovedOn, run: Run) -> bool:
    """Whether a foreign resume names every interrupt; a partial one leaves the run waiting."""
    if event.covers is None:
        return True
    return {item.question.interrupt_id for item in run.items} <= set(event.covers)
