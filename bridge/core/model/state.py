"""What is remembered of a thread: its runs with their items, early answers, carried context."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from bridge.core.model.inputs import Announcement, Answer, Question
from bridge.core.model.words import (
    AnswerStatus,
    ApprovalId,
    ClosedReason,
    Digest,
    JsonText,
    Millis,
    Origin,
    RunOutcome,
    Status,
    ThreadKey,
)


class AcceptedAnswer(Struct, frozen=True, gc=False, array_like=True):
    """The answer that counts. Payload and revised input are dropped once the run is closed."""

    status: AnswerStatus
    digest: Digest  # of status, payload, action and revised_input as JSON values
    answer_id: str
    answered_at: Millis  # the answer record's timestamp
    answered_by: str | None = None
    payload: JsonText | None = None
    metadata: JsonText | None = None
    action: Literal["restart", "respond"] | None = None
    revised_input: JsonText | None = None


class Item(Struct, frozen=True, gc=False, array_like=True):
    """One interrupt through its life."""

    question: Question
    status: Status = "pending"
    revision: int = 1
    expires_at: Millis | None = None  # effective: its own, or the source's default_ttl
    flags: tuple[str, ...] = ()
    answer: AcceptedAnswer | None = None
    closed_at: Millis | None = None
    closed_reason: ClosedReason | None = None


class RunPolicy(Struct, frozen=True, gc=False, array_like=True):
    """What a source's configuration said when the run opened; later changes do not touch it."""

    allowed_answerers: tuple[str, ...] = ()
    withdraw_on_failure: bool = False
    closed_retention: Millis = 7 * 86_400_000
    state_bytes: int = 0  # the limits it was let in by: lower ones do not bind it, higher ones do
    command_bytes: int = 0


class Run(Struct, frozen=True, gc=False, array_like=True):
    """One interrupted run, open or closed and remembered."""

    thread: ThreadKey
    run_id: str
    protocol: str
    digest: Digest
    at: Millis
    generation: int
    origin: Origin
    published_at: Millis
    items: tuple[Item, ...]
    policy: RunPolicy = RunPolicy()
    native: JsonText | None = None
    outcome: RunOutcome | None = None  # None while open
    closed_at: Millis | None = None
    confirmed: bool = False  # somebody saw our resume run start
    ended: bool = False  # its thread came to an end afterwards, and opens nothing any more
    ahead: Millis = 0  # by how much its own instant was later than `at`, when it was read

    @property
    def is_open(self) -> bool:
        return self.outcome is None


class Parked(Struct, frozen=True, gc=False, array_like=True):
    """An answer that came before its question, kept under its approval id until `until`."""

    approval_id: ApprovalId
    answer: Answer
    until: Millis


class Carried(Struct, frozen=True, gc=False, array_like=True):
    """Context that a run left; `run_id` is empty where it is the thread's.

    It is not kept beyond `until` unless a run of its thread waits for answers. `announced` are
    questions that the run told on its way; the body is empty where it told nothing else.
    """

    run_id: str
    body: JsonText
    until: Millis
    announced: tuple[Announcement, ...] = ()


class Thread(Struct, frozen=True, gc=False):
    """All that `decide` sees and changes: one thread's runs, its early answers, its contexts.

    `runs` and `carry` are in order of arrival. `parked` holds the early answers for approval ids
    the input concerns; a thread that was never seen is `Thread()`.
    """

    runs: tuple[Run, ...] = ()
    parked: tuple[Parked, ...] = ()
    carry: tuple[Carried, ...] = ()
