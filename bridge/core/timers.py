"""Time: the next instant at which a run changes by itself, and what happens then."""

from __future__ import annotations

from msgspec.structs import replace

from bridge.core import answers, closing, context, coverage, expiry
from bridge.core.model import Decision, Effect, Forget, Millis, Run, Thread, Tick
from bridge.core.rules import Rules
from bridge.core.runs import publish_changed, put, with_items


def next_timer(run: Run) -> Millis | None:
    """The earliest instant at which a tick would change the run; None if none would."""
    if run.outcome is not None:
        return closing.forget_at(run)
    return min(
        (i.expires_at for i in run.items if i.expires_at is not None and expiry.may_expire(i)),
        default=None,
    )


def ticked(thread: Thread, event: Tick, now: Millis, rules: Rules) -> Decision:
    """Expire and forget what is due, and give up on early answers whose question never came."""
    due = now if event.until is None else event.until
    effects: list[Effect] = []
    for run in thread.runs:
        thread = _run_ticked(thread, run, due, now, rules, effects)
    left = context.outdated(thread, due)
    thread = left.thread
    effects.extend(left.effects)
    given_up = [parked for parked in thread.parked if parked.until <= due]
    if given_up:
        waiting = tuple([parked for parked in thread.parked if parked.until > due])
        thread = replace(thread, parked=waiting)
        effects.extend([answers.unknown(parked.answer, now) for parked in given_up])
    return Decision(thread, tuple(effects))


def _run_ticked(
    thread: Thread, run: Run, due: Millis, now: Millis, rules: Rules, effects: list[Effect]
) -> Thread:
    at = next_timer(run)
    if at is None or at > due:
        return thread
    if run.outcome is not None:
        effects.append(Forget(run))
        return put(thread, run, None)
    items = expiry.expire_due(run, due, now)
    if coverage.is_complete(items):
        end = coverage.settle(run, items, thread.carry, now, rules)
        effects.extend(end.effects)
        return put(thread, run, end.run)
    changed = with_items(run, items)
    effects.extend(publish_changed(run, changed))
    return put(thread, run, changed)
