"""The `AnswerVerdict` record: what became of one answer or operation."""

from __future__ import annotations

import msgspec

from bridge.core.model import Judged
from bridge.core.record import Header
from bridge.records.headers import header_builder
from bridge.records.instants import rfc3339
from bridge.records.outgoing import Outgoing
from bridge.records.wire import WireOrigin, wire_origin

_headers = header_builder("AnswerVerdict")
_encode = msgspec.json.Encoder().encode


class WireProblem(msgspec.Struct):
    """One reason against an answer; `path` is a JSON Pointer."""

    path: str
    message: str


class WireVerdict(msgspec.Struct, omit_defaults=True):
    """Field for field schemas/answer_verdict.avsc."""

    answer_id: str
    verdict: str
    problems: tuple[WireProblem, ...]
    decided_at: str
    origin: WireOrigin
    approval_id: str | None = None
    source: str | None = None
    scope: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    interrupt_id: str | None = None
    open: int | None = None


def verdict_record(judged: Judged, trace: tuple[Header, ...] = ()) -> Outgoing:
    """The verdict, keyed by the approval where that is known, else by the answer."""
    return Outgoing(
        topic="answer-verdicts",
        key=(judged.approval_id or judged.answer_id).encode(),
        value=_encode(_verdict(judged)),
        headers=_headers(f"{judged.answer_id}@{judged.origin}") + trace,
    )


def _verdict(judged: Judged) -> WireVerdict:
    thread = judged.thread
    return WireVerdict(
        answer_id=judged.answer_id,
        verdict=judged.verdict,
        problems=tuple(WireProblem(p.path, p.message) for p in judged.problems),
        decided_at=rfc3339(judged.decided_at),
        origin=wire_origin(judged.origin),
        approval_id=judged.approval_id,
        source=thread.source if thread else None,
        scope=thread.scope if thread else None,
        thread_id=thread.thread_id if thread else None,
        run_id=judged.run_id,
        interrupt_id=judged.interrupt_id,
        open=judged.open,
    )
