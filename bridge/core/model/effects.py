"""What others see of a decision, and the decision itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from bridge.core.model.inputs import Question, Refusal
from bridge.core.model.state import Run, Thread
from bridge.core.model.words import (
    AnswerStatus,
    ApprovalId,
    ClosedReason,
    JsonText,
    Metric,
    Millis,
    Origin,
    Problem,
    ThreadKey,
    Verdict,
)


class Publish(Struct, frozen=True, gc=False):
    """Upsert the approval of `run.items[index]`."""

    run: Run
    index: int


class Forget(Struct, frozen=True, gc=False):
    """Tombstone every approval of a run that is no longer remembered."""

    run: Run


class Judged(Struct, frozen=True, gc=False):
    """The one verdict on an answer or operation; identity where it is known."""

    verdict: Verdict
    origin: Origin
    answer_id: str
    decided_at: Millis
    approval_id: ApprovalId | None = None
    thread: ThreadKey | None = None
    run_id: str | None = None
    interrupt_id: str | None = None
    problems: tuple[Problem, ...] = ()
    open: int | None = None


class Native(Struct, frozen=True, gc=False):
    """What an executor sends: ready-made, nothing left to fill in but credentials."""

    method: str
    body: JsonText
    endpoint: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    abandons_siblings: bool = False  # the body takes the whole run back: no answer is delivered


class Entry(Struct, frozen=True, gc=False):
    """How one question of a run ended, as its resume command has it.

    `resolved` is only an answer that still counts. Payload, action and revised input are those of
    such an answer; metadata, name and instant also those of one that cancelled.
    """

    question: Question
    approval_id: ApprovalId
    status: AnswerStatus
    closed_reason: ClosedReason
    payload: JsonText | None = None
    metadata: JsonText | None = None
    answered_by: str | None = None
    answered_at: Millis | None = None
    action: Literal["restart", "respond"] | None = None
    revised_input: JsonText | None = None


class Resume(Struct, frozen=True, gc=False):
    """The run is complete: emit its one resume command, with its entries in the run's order."""

    run: Run
    entries: tuple[Entry, ...]
    native: Native
    completed_by: Literal["answers", "expiry", "mixed"]
    issued_at: Millis
    deliver_by: Millis | None


class DeadLetter(Struct, frozen=True, gc=False):
    """The input's own record goes to dead-letters with this reason.

    Where the reason is about a run and not about the record that brought it up (a command that
    does not fit), `run` is given: the letter then has its origin, and no bytes of the answer.
    """

    refusal: Refusal
    run: Run | None = None


class Counted(Struct, frozen=True, gc=False):
    """Something an operator should see in a metric: (metric, label)."""

    metric: Metric
    label: str = ""


Effect = Publish | Forget | Judged | Resume | DeadLetter | Counted


class Decision(Struct, frozen=True, gc=False):
    """The thread as it is from now on, and what others see of it, in order."""

    thread: Thread
    effects: tuple[Effect, ...] = ()
