"""The context a thread carries until its run ends without an interrupt."""

from __future__ import annotations

from bridge.core.model import Carry, Counted, Decision, Thread
from bridge.core.rules import Rules


def carried(thread: Thread, event: Carry, rules: Rules) -> Decision:
    """Keep the newest context; one that is too large is dropped, and so is what it replaces.

    An older context would continue the thread from a point that it has left.
    """
    body = event.body
    if body is not None and len(body) > rules.limits.carry_bytes:
        dropped = Counted("carry_dropped", "too_large")
        return Decision(Thread(thread.runs, thread.parked, None), (dropped,))
    if body == thread.carry:
        return Decision(thread)
    return Decision(Thread(thread.runs, thread.parked, body))
