"""The `AnswerVerdict` record: what became of one answer or operation."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from bridge.records.instants import Instant
from bridge.records.shape import Origin


class Problem(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One thing that is wrong with an answer."""

    path: str
    """JSON Pointer to it; empty for the whole."""
    message: str
    """What is wrong; it never quotes the payload."""


class AnswerVerdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What became of an answer or operation: exactly one for each record read.

    `accepted` counts, and `duplicate` says that the same answer was accepted before: whoever gets
    either of them is done. After `invalid_payload`, `too_large` and `parked_full` the question is
    still open and may be answered again. Every other verdict is final.
    """

    topic: ClassVar[Literal["answer-verdicts"]] = "answer-verdicts"

    answer_id: str
    """The sender's; topic/partition/offset of the record where none was given or readable."""
    verdict: str
    """One of the words in schemas/answer_verdict.avsc; may grow."""
    problems: tuple[Problem, ...]
    """Why it was not accepted, in detail; of an accepted one, what was left out."""
    decided_at: Instant
    """By broker time."""
    origin: Origin
    """The record that was judged: the sure way to find the verdict on what you have sent."""
    approval_id: str | None = None
    """The approval concerned, where known. Then also the record's key."""
    source: str | None = None
    scope: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    interrupt_id: str | None = None
    open: int | None = None
    """Number of questions of the run that still wait for an answer."""

    @property
    def key(self) -> bytes:
        """The record's key: the approval where it is known, else the answer."""
        return (self.approval_id or self.answer_id).encode()

    @property
    def event_id(self) -> str:
        """`ce_id`: one for each record judged, whatever ids its sender gave."""
        return f"{self.answer_id}@{self.origin}"
