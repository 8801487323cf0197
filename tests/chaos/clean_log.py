"""One story, written by hand, that touches every rule of the checker and breaks none."""

from __future__ import annotations

from bridge.audit.log import LogRecord
from tests.chaos.written_log import Log, Run, finished, instant, interrupt, packed


def clean_log() -> list[LogRecord]:
    """Ten runs on two slots: every verdict, every way to end, bad records, hops; no violation."""
    log = Log()
    _answered_out_of_order(log)
    _expired_and_mixed(log)
    _superseded_and_withdrawn(log)
    _refused(log)
    _probed(log)
    log.append("state", 0, b"meta", b"\xc3\x01opaque")
    return log.records


def _answered_out_of_order(log: Log) -> None:
    early = Run(log, "thread-early", "run-1", [interrupt("int-early")])
    first = early.answer(0, {"approved": True}, at_home=False)
    early.ask(keyed=False)
    early.accept(0, first, last=True)

    run = Run(log, "thread-refund", "run-1", [interrupt("int-a"), interrupt("int-b")]).ask()
    log.event("thread-refund", run.asks())  # the producer's retry: changes nothing
    wrong = run.answer(1, {"approved": "yes"})
    run.refuse(1, wrong, "invalid_payload")
    second = run.answer(1, {"approved": True, "limit": 50.0})
    run.accept(1, second)
    run.refuse(1, run.answer(1, {"limit": 50, "approved": True}), "duplicate")
    run.refuse(1, run.answer(1, {"approved": False}), "conflict")
    run.accept(0, run.answer(0, {"approved": False}), last=True)
    run.refuse(0, run.answer(0, {"approved": True}), "late")
    other = finished("thread-refund", "run-1", [interrupt("int-z")])
    log.dead(log.event("thread-refund", other), "run_conflict")


def _expired_and_mixed(log: Log) -> None:
    soon = instant(log.now + 600_000)
    lone = Run(log, "thread-quiet", "run-1", [interrupt("int-1", expiresAt=soon)]).ask()
    lone.expire(0, last=True)
    lone.refuse(0, lone.answer(0, {"approved": True}), "expired")

    soon = instant(log.now + 600_000)
    asked = [interrupt("int-1"), interrupt("int-2"), interrupt("int-3", expiresAt=soon)]
    mixed = Run(log, "thread-mixed", "run-7", asked).ask()
    mixed.accept(0, mixed.answer(0, {"approved": True}))
    mixed.accept(1, mixed.answer(1, status="cancelled"))
    mixed.expire(2, last=True)


def _superseded_and_withdrawn(log: Log) -> None:
    older = Run(log, "thread-again", "run-1", [interrupt("int-1"), interrupt("int-2")]).ask()
    older.accept(0, older.answer(0, {"approved": True}))
    Run(log, "thread-again", "run-2", [interrupt("int-1")]).ask()
    older.close("superseded", closed_reason="superseded")
    older.refuse(1, older.answer(1, {"approved": True}), "stale")

    taken = Run(log, "thread-ops", "run-1", [interrupt("int-1")]).ask()
    log.verdict(log.operation(taken, "withdraw"), "accepted", taken)
    taken.close("withdrawn", status="withdrawn", closed_reason="operator")
    taken.refuse(0, taken.answer(0, {"approved": True}), "withdrawn")

    elsewhere = Run(log, "thread-away", "run-1", [interrupt("int-1")]).ask()
    resume = [{"interruptId": "int-1", "status": "resolved", "payload": {"approved": True}}]
    given = {"threadId": "thread-away", "runId": "other", "messages": [], "resume": resume}
    body = {"type": "RUN_STARTED", "threadId": "thread-away", "runId": "other", "input": given}
    log.append("input", elsewhere.slot, b"thread-away", packed(body))
    elsewhere.close("withdrawn", status="withdrawn", closed_reason="moved_on")


def _probed(log: Log) -> None:
    log.probe(1, partition=1)
    log.probe(0, partition=1)
    nowhere = log.append("operations", 0, None, packed({"op": "probe", "slot": 2}))
    log.dead(nowhere, "malformed")
    log.verdict(nowhere, "malformed")


def _refused(log: Log) -> None:
    unknown = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "paused"}}
    log.dead(log.append("input", 0, b"t", b"{not json"), "not_json")
    log.dead(log.append("input", 1, None, b""), "empty")
    log.append("input", 1, b"thread-refund", None)  # a delete
    log.append("answers", 1, b"thread-refund", None)
    log.dead(log.append("input", 0, b"t", packed(unknown)), "unknown_outcome")
    log.append("input", 0, b"t", packed({"type": "TEXT_MESSAGE_CONTENT", "delta": "hello"}))

    broken = log.append("answers", 0, b"t", b'{"status":"resolved"}')
    log.dead(broken, "malformed")
    log.verdict(broken, "malformed")
    nobody = Run(log, "thread-nobody", "run-1", [interrupt("int-1")])
    nobody.refuse(0, nobody.answer(0, {"approved": True}), "unknown")
