"""Words that records, state and rules share: closed sets, and where a thing stands.

Instants are milliseconds since the epoch, UTC; free JSON is the bytes of its text, as written.
"""

from __future__ import annotations

from typing import Literal, NewType

from msgspec import Struct

Millis = int
JsonText = bytes

ApprovalId = NewType("ApprovalId", str)
CommandId = NewType("CommandId", str)
ResumeRunId = NewType("ResumeRunId", str)
Digest = NewType("Digest", bytes)
"""Equal digests, equal content."""

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
    "probed",
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
    "no_timestamp",
    "limit",
    "command_too_large",
    "no_refusal_configured",
    "unsupported",
    "framing",
    "hidden_question",
]

Metric = Literal[
    "answers",  # by verdict
    "carry_dropped",  # by reason
    "consumed",  # by topic
    "dead_letters",  # by reason
    "expired",  # by source
    "lenient",  # by kind of deviation
    "produced",  # by topic
    "repeats",  # by source
    "rerouted",  # by topic
    "resume_failed",  # by source
    "runs_closed",  # by outcome
    "unattributable",  # by source
]
"""What is counted of a slot's records: names of counters, each with one label."""


class Origin(Struct, frozen=True, gc=False, array_like=True):
    """Where a record stood when its producer wrote it; survives a reroute."""

    topic: str
    partition: int
    offset: int
    timestamp: Millis

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}/{self.offset}"


class Order(Struct, frozen=True, gc=False):
    """Where an event stands among those of its thread: what comes after what.

    `at` is its instant. A `generation`, counted up by the agent from 1, beats instants where both
    sides have one (0: none). `work`: the thread is only at work, which is told again by each way on
    which it is followed; at the very instant of a question it never comes after it. All else that
    bears one instant is in order of arrival.
    """

    at: Millis
    generation: int = 0
    rank: Literal["event", "work"] = "event"


class ThreadKey(Struct, frozen=True, gc=False, array_like=True):
    """The unit of state and of order. Scope is empty where a protocol has none."""

    source: str
    scope: str
    thread_id: str


class Problem(Struct, frozen=True, gc=False, array_like=True):
    """One thing that is wrong with an answer; `path` is a JSON Pointer, and no value is quoted."""

    path: str
    message: str
