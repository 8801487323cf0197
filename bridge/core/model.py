"""The nouns of the bridge: what comes in, what is remembered, what goes out.

Plain frozen values. Instants are milliseconds since the epoch, UTC. Free JSON (payload, schema,
metadata, native parts) is held as the bytes of its text, exactly as it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Millis = int
JsonText = bytes

Kind = Literal["input", "authorization"]
Status = Literal["pending", "answered", "cancelled", "expired", "superseded", "withdrawn"]
RunOutcome = Literal["resumed", "superseded", "withdrawn", "unresumable"]
AnswerStatus = Literal["resolved", "cancelled"]
Verdict = Literal[
    "malformed",
    "forbidden",
    "unknown",
    "duplicate",
    "late",
    "stale",
    "withdrawn",
    "expired",
    "out_of_band",
    "conflict",
    "too_large",
    "invalid_payload",
    "parked_full",
    "accepted",
]
ClosedReason = Literal[
    "answered",
    "cancelled",
    "expired",
    "lapsed",
    "superseded",
    "moved_on",
    "resumed_elsewhere",
    "run_failed",
    "task_ended",
    "sibling_abandoned",
    "operator",
    "command_too_large",
    "no_refusal_configured",
]
Reason = Literal[
    "empty",
    "not_json",
    "json_rules",
    "malformed",
    "too_large",
    "too_deep",
    "unknown_outcome",
    "no_interrupts",
    "interrupts_on_success",
    "duplicate_interrupt_id",
    "run_conflict",
    "run_reused",
    "too_old",
    "limit",
    "command_too_large",
    "no_refusal_configured",
    "unsupported",
]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a record stood when its producer wrote it; survives a reroute."""

    topic: str
    partition: int
    offset: int
    timestamp: Millis

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}/{self.offset}"


@dataclass(frozen=True, slots=True)
class ThreadKey:
    """The unit of state and of order. Scope is empty where a protocol has none."""

    source: str
    scope: str
    thread_id: str


# --- Inputs -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """One interrupt as its protocol asked it. Ids are compared exactly."""

    interrupt_id: str
    kind: Kind = "input"
    reason: str | None = None
    message: str | None = None
    tool_call_id: str | None = None
    response_schema: JsonText | None = None
    metadata: JsonText | None = None
    expires_at_raw: str | None = None
    actions: tuple[str, ...] = ()
    authorize_at: str | None = None
    flags: tuple[str, ...] = ()
    native: JsonText | None = None  # what the protocol needs back to build its body


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A run ended with questions. `at` orders runs of a thread; `generation` beats it where > 0."""

    thread: ThreadKey
    run_id: str
    protocol: str
    questions: tuple[Question, ...]
    digest: bytes  # of the canonical list of interrupts: equal digest, equal event
    at: Millis
    origin: Origin
    generation: int = 0
    native: JsonText | None = None  # run-level context for the body (endpoint, ids)


@dataclass(frozen=True, slots=True)
class MovedOn:
    """Someone continued or ended the thread's run.

    Closes the open run (`run_id`, or whichever is open) unless `covers` is given and does not name
    every open interrupt. When `by_run` is the resume run this bridge issued, or is not known, it
    confirms a resumed run instead.
    """

    thread: ThreadKey
    reason: ClosedReason
    at: Millis
    origin: Origin
    run_id: str | None = None
    by_run: str | None = None
    covers: tuple[str, ...] | None = None
    generation: int = 0


@dataclass(frozen=True, slots=True)
class RunFailed:
    """The interrupted run reported an error afterwards."""

    thread: ThreadKey
    at: Millis
    origin: Origin


@dataclass(frozen=True, slots=True)
class Carry:
    """Context of a thread to keep until its run ends without an interrupt; None drops it."""

    thread: ThreadKey
    body: JsonText | None
    origin: Origin


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to one question, named by approval_id, by full identity, or by both."""

    origin: Origin
    status: AnswerStatus
    approval_id: str | None = None
    thread: ThreadKey | None = None
    run_id: str | None = None
    interrupt_id: str | None = None
    payload: JsonText | None = None
    metadata: JsonText | None = None
    answer_id: str | None = None
    answered_by: str | None = None
    answered_at: Millis | None = None
    comment: str | None = None
    action: Literal["restart", "respond"] | None = None
    revised_input: JsonText | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator closes (`withdraw`) or expires the open interrupts of (`expire`) one run."""

    origin: Origin
    op: Literal["withdraw", "expire"]
    approval_id: str | None = None
    thread: ThreadKey | None = None
    run_id: str | None = None
    reason: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passed: whatever was due in this thread by `until` (now, where None) happens now."""

    until: Millis | None = None


Input = Interrupted | MovedOn | RunFailed | Carry | Answer | Operation | Tick


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record that becomes no input. `pointer` is a JSON Pointer, never a value."""

    reason: Reason
    detail: str = ""
    pointer: str = ""


# --- State ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AcceptedAnswer:
    """The answer that counts. Payload and revised input are dropped once the run is closed."""

    status: AnswerStatus
    digest: bytes  # of status, payload, action and revised_input as JSON values
    answer_id: str
    answered_at: Millis  # the answer record's timestamp
    answered_by: str | None = None
    payload: JsonText | None = None
    metadata: JsonText | None = None
    action: Literal["restart", "respond"] | None = None
    revised_input: JsonText | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One interrupt through its life."""

    question: Question
    status: Status = "pending"
    revision: int = 1
    expires_at: Millis | None = None  # effective: its own, or the source's default_ttl
    flags: tuple[str, ...] = ()
    answer: AcceptedAnswer | None = None
    closed_at: Millis | None = None
    closed_reason: ClosedReason | None = None


@dataclass(frozen=True, slots=True)
class RunPolicy:
    """What a source's configuration said when the run opened; later changes do not touch it."""

    allowed_answerers: tuple[str, ...] = ()
    withdraw_on_failure: bool = False
    closed_retention: Millis = 7 * 86_400_000


@dataclass(frozen=True, slots=True)
class Run:
    """One interrupted run, open or closed and remembered."""

    thread: ThreadKey
    run_id: str
    protocol: str
    digest: bytes
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

    @property
    def is_open(self) -> bool:
        return self.outcome is None


@dataclass(frozen=True, slots=True)
class Parked:
    """An answer that came before its question, kept under its approval id until `until`."""

    approval_id: str
    answer: Answer
    until: Millis


@dataclass(frozen=True, slots=True)
class Thread:
    """All that `decide` sees and changes: one thread's runs, its early answers, its context.

    `runs` is in order of arrival. `parked` holds the early answers for approval ids the input
    concerns; a thread that was never seen is `Thread()`.
    """

    runs: tuple[Run, ...] = ()
    parked: tuple[Parked, ...] = ()
    carry: JsonText | None = None


# --- Decisions --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Publish:
    """Upsert the approval of `run.items[index]`."""

    run: Run
    index: int


@dataclass(frozen=True, slots=True)
class Forget:
    """Tombstone every approval of a run that is no longer remembered."""

    run: Run


@dataclass(frozen=True, slots=True)
class Problem:
    path: str  # JSON Pointer into the payload
    message: str


@dataclass(frozen=True, slots=True)
class Judged:
    """The one verdict on an answer or operation; identity where it is known."""

    verdict: Verdict
    origin: Origin
    answer_id: str
    decided_at: Millis
    approval_id: str | None = None
    thread: ThreadKey | None = None
    run_id: str | None = None
    interrupt_id: str | None = None
    problems: tuple[Problem, ...] = ()
    open: int | None = None


@dataclass(frozen=True, slots=True)
class Native:
    """What an executor sends: ready-made, nothing left to fill in but credentials."""

    method: str
    body: JsonText
    endpoint: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    abandons_siblings: bool = False  # the body takes the whole run back: no answer is delivered


@dataclass(frozen=True, slots=True)
class Resume:
    """The run is complete: emit its one resume command. `run` still has its payloads."""

    run: Run
    native: Native
    completed_by: Literal["answers", "expiry", "mixed"]
    issued_at: Millis
    deliver_by: Millis | None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """The input's own record goes to dead-letters with this reason.

    Where the reason is about a run and not about the record that brought it up (a command that
    does not fit), `run` is given: the letter then has its origin, and no bytes of the answer.
    """

    refusal: Refusal
    run: Run | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """Something an operator should see in a metric: (metric, label)."""

    metric: str
    label: str = ""


Effect = Publish | Forget | Judged | Resume | DeadLetter | Counted


@dataclass(frozen=True, slots=True)
class Decision:
    """The thread as it is from now on, and what the world is told, in order."""

    thread: Thread
    effects: tuple[Effect, ...] = ()


# --- What decide is given besides state and input -----------------------------------------------


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds; each has a reason code. Sizes in bytes of JSON text."""

    interrupts_per_run: int = 1_000
    thread_state_bytes: int = 900_000
    command_bytes: int = 900_000
    payload_bytes: int = 262_144
    schema_bytes: int = 16_384
    record_bytes: int = 1_000_000
    json_depth: int = 64
    parked_answers: int = 10_000  # per slot
    carry_bytes: int = 262_144


@dataclass(frozen=True, slots=True)
class SourcePolicy:
    """A source's rules for runs that open now. Durations in milliseconds."""

    default_ttl: Millis | None = None
    max_event_age: Millis = 7 * 86_400_000
    early_answer_ttl: Millis = 15 * 60_000
    refuse_unusable_schema: bool = False
    run: RunPolicy = RunPolicy()


BuildNative = Callable[[Run, JsonText | None], Native]
"""The protocol's `build`: (closed run with its payloads, carried context) to native body."""
