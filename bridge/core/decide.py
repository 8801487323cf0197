"""The one door of the core: state, input and instant in, new state and effects out.

Pure: the same arguments give the same decision, so a replay of a log gives the same outputs.
"""

from __future__ import annotations

from typing import assert_never

from bridge.core.answers import answered
from bridge.core.context import carried
from bridge.core.model import (
    Answer,
    Carry,
    Decision,
    Input,
    Interrupted,
    Millis,
    MovedOn,
    Operation,
    RunFailed,
    Thread,
    Tick,
)
from bridge.core.moving import moved_on, run_failed
from bridge.core.opening import interrupted
from bridge.core.operations import operated
from bridge.core.rules import Rules
from bridge.core.timers import ticked


def decide(thread: Thread, event: Input, now: Millis, rules: Rules) -> Decision:  # noqa: PLR0911 (one line per input type)
    """What one input changes. `now` is broker time; nothing is read from anywhere else.

    A thread that comes back as the same object has not changed.
    """
    match event:
        case Interrupted():
            return interrupted(thread, event, now, rules)
        case Answer():
            return answered(thread, event, now, rules)
        case Tick():
            return ticked(thread, event, now, rules)
        case MovedOn():
            return moved_on(thread, event, now)
        case RunFailed():
            return run_failed(thread, event, now)
        case Carry():
            return carried(thread, event, now, rules)
        case Operation():
            return operated(thread, event, now, rules)
        case _:
            assert_never(event)
