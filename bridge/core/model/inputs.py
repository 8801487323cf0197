"""What comes in: events of agents, answers of people, operations, time, and refusals."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from bridge.core.model.words import (
    AnswerStatus,
    ClosedReason,
    JsonText,
    Kind,
    Millis,
    Origin,
    Problem,
    Reason,
    ThreadKey,
)


class Question(Struct, frozen=True, gc=False, array_like=True):
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
    revisable: bool = False  # an answer may revise the input it approves
    action_schemas: tuple[tuple[str, JsonText], ...] = ()  # where an action has one of its own
    subagent_run_id: str | None = None  # which of the agents at work in the run asks


class Interrupted(Struct, frozen=True, gc=False):
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
    repeats: bool = False  # a state that is told as long as it lasts, and no event of its own


class MovedOn(Struct, frozen=True, gc=False):
    """Someone continued or ended the thread's run.

    Closes the open run (`run_id`, or whichever is open) unless `covers` is given and does not name
    every open interrupt. When `by_run` is the resume run this bridge issued, or is not known, it
    confirms a resumed run instead. `is_work`: the thread is only at work, which is told again by
    other ways; at its very instant it is never newer than a question.
    """

    thread: ThreadKey
    reason: ClosedReason
    at: Millis
    origin: Origin
    run_id: str | None = None
    by_run: str | None = None
    covers: tuple[str, ...] | None = None
    generation: int = 0
    is_work: bool = False


class RunFailed(Struct, frozen=True, gc=False):
    """The interrupted run reported an error afterwards."""

    thread: ThreadKey
    at: Millis
    origin: Origin


class Carry(Struct, frozen=True, gc=False):
    """Context of a run to keep while it may ask, and until what it asked is settled; None drops it.

    `run_id` is empty where the context is the thread's. None stands for the run that began last:
    the members of `body`, an object, then replace those that are kept, and null takes one away.
    """

    thread: ThreadKey
    body: JsonText | None
    origin: Origin
    run_id: str | None = ""


class Announcement(Struct, frozen=True, gc=False, array_like=True):
    """A question that a run told before its end; equal digests, equal questions."""

    question: Question
    digest: bytes


class Announced(Struct, frozen=True, gc=False):
    """A run under way tells a question, which it asks if its end says nothing of it.

    `run_id` None: of the run that began last, else of one that nobody has named yet.
    """

    thread: ThreadKey
    announcement: Announcement
    origin: Origin
    run_id: str | None = None


class Ended(Struct, frozen=True, gc=False):
    """A run is over, and with it what it told; `asks` where its end leaves that to be asked.

    `run_id` None stands for the run that began last, the empty one for one that nobody has named.
    `in_order` False: records of the thread may have come by another way, so that what has no name
    is not known to be this run's. `explains`: that it asks nothing is right.
    """

    thread: ThreadKey
    protocol: str
    at: Millis
    origin: Origin
    run_id: str | None
    asks: bool = False
    in_order: bool = True
    explains: bool = False


class Answer(Struct, frozen=True, gc=False, array_like=True):
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
    problems: tuple[Problem, ...] = ()  # what was left out of it; its verdict tells them


class Operation(Struct, frozen=True, gc=False):
    """An operator closes (`withdraw`) or expires the open interrupts of (`expire`) one run."""

    origin: Origin
    op: Literal["withdraw", "expire"]
    approval_id: str | None = None
    thread: ThreadKey | None = None
    run_id: str | None = None
    reason: str | None = None
    by: str | None = None


class Probe(Struct, frozen=True, gc=False):
    """Somebody asks whether a slot reads and writes; about no thread, so that it changes none."""

    origin: Origin
    slot: int


class Tick(Struct, frozen=True, gc=False):
    """Time passed: whatever was due in this thread by `until` (now, where None) happens now."""

    until: Millis | None = None


Input = Interrupted | MovedOn | RunFailed | Carry | Announced | Ended | Answer | Operation | Tick


class Refusal(Struct, frozen=True, gc=False):
    """A record that becomes no input. `pointer` is a JSON Pointer, never a value."""

    reason: Reason
    detail: str = ""
    pointer: str = ""
