"""The one door of the core: state, input and instant in, new state and effects out.

Pure: the same arguments give the same decision, so a replay of a log gives the same outputs.
"""

from __future__ import annotations

from msgspec.structs import replace

from bridge.core import context, moving
from bridge.core.announcing import announced, asked_by, ended, forgotten
from bridge.core.answers import answered
from bridge.core.instants import is_usable, unusable
from bridge.core.model import (
    Announced,
    Answer,
    DeadLetter,
    Decision,
    Drop,
    Input,
    Interrupted,
    Keep,
    Millis,
    Operation,
    Outdate,
    Patch,
    Placed,
    Refusal,
    RunEnded,
    RunStarted,
    Thread,
    Tick,
)
from bridge.core.opening import interrupted
from bridge.core.operations import operated
from bridge.core.rules import Rules
from bridge.core.timers import ticked


def decide(thread: Thread, event: Input, now: Millis, rules: Rules) -> Decision:
    """What one input changes. `now` is broker time; nothing is read from anywhere else.

    A thread that comes back as the same object has not changed.
    """
    if isinstance(event, Placed) and not is_usable(event.order.at):
        return _untimed(thread, event, now, rules)
    return _decide(thread, event, now, rules)


def _untimed(thread: Thread, event: Placed, now: Millis, rules: Rules) -> Decision:
    """An event that nothing places in time: one of its arrival, where its source says so.

    Else it is refused where its place would matter: what changes nothing even as the newest event
    needs none, and neither does the start of a resume, which is known by its id, or the end of a
    run that asks nothing.
    """
    decision = _decide(thread, replace(event, order=replace(event.order, at=now)), now, rules)
    by_id = isinstance(event, RunStarted) and not decision.effects
    silent = isinstance(event, RunEnded) and asked_by(thread, event) is None
    if rules.policy.takes_untimed or decision.thread is thread or by_id or silent:
        return decision
    remedy = "set message.timestamp.type=LogAppendTime on its topic, or untimed for its source"
    detail = f"{unusable(event.origin.timestamp)}: {remedy}"
    left = forgotten(thread, event) if isinstance(event, RunEnded) else thread
    return Decision(left, (DeadLetter(Refusal("no_timestamp", detail)),))


def _decide(thread: Thread, event: Input, now: Millis, rules: Rules) -> Decision:  # noqa: PLR0911 (one line per input type)
    match event:
        case Interrupted():
            return interrupted(thread, event, now, rules)
        case Answer():
            return answered(thread, event, now, rules)
        case Tick():
            return ticked(thread, event, now, rules)
        case RunEnded():
            return ended(thread, event, now, rules)
        case Announced():
            return announced(thread, event, now, rules)
        case Operation():
            return operated(thread, event, now, rules)
        case Keep() | Patch() | Drop() | Outdate():
            return context.changed(thread, event, now, rules)
        case _:
            return moving.moved(thread, event, now)
