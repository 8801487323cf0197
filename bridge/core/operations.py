"""What an operator does to one run: withdraw it, or let its open interrupts expire now."""

from __future__ import annotations

from bridge.core import closing, coverage, expiry
from bridge.core.lifecycle import CLOSED_VERDICT
from bridge.core.model import Decision, Judged, Millis, Operation, Run, Thread, Verdict
from bridge.core.rules import Rules
from bridge.core.runs import put, run_of


def operated(thread: Thread, operation: Operation, now: Millis, rules: Rules) -> Decision:
    """Exactly one verdict; `accepted` where an open run was there to close."""
    run = run_of(thread, operation)
    if run is None:
        return Decision(thread, (_judged(operation, "unknown", now, None),))
    if run.outcome is not None:
        verdict = CLOSED_VERDICT[run.outcome]
        return Decision(thread, (_judged(operation, verdict, now, run),))
    if operation.op == "withdraw":
        closed = closing.close(run, "withdrawn", "operator", now)
    else:
        # Nothing stays pending, so expiring is settling: the command says `cancelled` for each.
        items = [
            expiry.expired(item, now, "operator") if item.status == "pending" else item
            for item in run.items
        ]
        closed = coverage.settle(run, items, thread.carry, now, rules)
    judged = _judged(operation, "accepted", now, run)
    return Decision(put(thread, run, closed.run), (*closed.effects, judged))


def _judged(operation: Operation, verdict: Verdict, now: Millis, run: Run | None) -> Judged:
    return Judged(
        verdict=verdict,
        origin=operation.origin,
        answer_id=str(operation.origin),
        decided_at=now,
        approval_id=operation.approval_id,
        thread=operation.thread if run is None else run.thread,
        run_id=operation.run_id if run is None else run.run_id,
        open=None if run is None else 0,
    )
