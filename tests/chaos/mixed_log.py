"""The story of A2A and Genkit, written by hand beside that of AG-UI; it breaks no rule."""

from __future__ import annotations

from bridge.audit.log import LogRecord
from tests.chaos.written_log import Log, packed
from tests.chaos.written_runs import TASKS, TURNS, Gate, SignIn, Task, Turn, call, tool


def mixed_log() -> list[LogRecord]:
    """Eight runs: answered, given up, gone on elsewhere, superseded, not to be resumed."""
    log = Log()
    _tasks(log)
    _turns(log)
    for topic in (TASKS, TURNS):
        bad = log.append("input", 0, b"t", b"{not json", topic=topic)
        log.dead(bad, "not_json")
    paused = {"sessionId": "s", "snapshotId": "p", "finishReason": "Interrupted"}
    log.dead(log.append("input", 0, b"s", packed(paused), topic=TURNS), "unknown_outcome")
    unknown = {"taskId": "t", "status": {"state": "TASK_STATE_PAUSED"}}
    log.dead(log.append("input", 1, b"t", packed(unknown), topic=TASKS), "unsupported")
    log.append("state", 0, b"meta", b"\xc3\x01opaque")
    return log.records


def _tasks(log: Log) -> None:
    review = Task(log, "task-review", "q-1", [call("merge", branch="main"), call("tag", n=1.50)])
    review.ask(keyed=False)
    log.event("task-review", review.asks(), topic=TASKS)  # told again: changes nothing
    review.accept(1, review.answer(1, {"ok": True, "weight": 50.0}))
    review.refuse(1, review.answer(1, {"ok": False}), "conflict")
    review.accept(0, review.answer(0, {"ok": False}), last=True)
    log.event("task-review", review.told("TASK_STATE_COMPLETED"), topic=TASKS)

    given_up = Task(log, "task-given-up", "q-1", [call("drop"), call("purge")]).ask()
    given_up.accept(0, given_up.answer(0, {"ok": True}))
    given_up.accept(1, given_up.answer(1, status="cancelled"), last=True)

    gated = Gate(log, "task-gated", "q-1", [call("wipe"), call("stop")]).ask()
    gated.accept(0, gated.answer(0, {"approved": True}))
    gated.accept(1, gated.answer(1, status="cancelled"), last=True)

    older = Task(log, "task-again", "q-1", [call("first")]).ask()
    Task(log, "task-again", "q-2", [call("second")]).ask()
    older.close("superseded", closed_reason="superseded", status="superseded")
    older.refuse(0, older.answer(0, {"ok": True}), "stale")

    signed = SignIn(log, "task-sign-in", "q-1", [{"id": "q-1"}]).ask()
    signed.refuse(0, signed.answer(0, "a token"), "out_of_band")
    log.event("task-sign-in", signed.told("TASK_STATE_WORKING"), topic=TASKS)
    signed.close("withdrawn", closed_reason="moved_on", status="withdrawn")


def _turns(log: Log) -> None:
    asked = [tool("pay", "c-1", amount=50.0), tool("ask", "c-2", query="sure?")]
    paid = Turn(log, "session-paid", "snap-1", asked).ask(keyed=False)
    log.event("session-paid", paid.asks(), topic=TURNS)
    paid.accept(1, paid.answer(1, {"answer": "yes"}))
    paid.accept(0, paid.answer(0, {"approved": True, "limit": 50.0}, action="restart"), last=True)

    declined = Turn(log, "session-declined", "snap-1", [tool("pay", "c-1", amount=7)]).ask()
    declined.accept(0, declined.answer(0, status="cancelled"), last=True)

    stuck = Turn(log, "session-stuck", "snap-1", [tool("ask", "c-1", query="who?")]).ask()
    given = stuck.answer(0, status="cancelled")
    stuck.accept(0, given)
    stuck.close("unresumable", closed_reason="no_refusal_configured")
    assert stuck.origin is not None
    log.dead(stuck.origin, "no_refusal_configured")

    left = Turn(log, "session-left", "snap-1", [tool("pay", "c-1", amount=7)]).ask()
    said = {"role": "model", "content": [{"text": "never mind"}]}
    log.event("session-left", left.ends("stop", said, "snap-2"), topic=TURNS)
    left.close("withdrawn", closed_reason="moved_on", status="withdrawn")
