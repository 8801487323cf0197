"""What comes in: events of agents, answers of people, operations, time, and refusals."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from bridge.core.model.words import (
    AnswerStatus,
    ApprovalId,
    Digest,
    JsonText,
    Kind,
    Millis,
    Order,
    Origin,
    Problem,
    Reason,
    ResumeRunId,
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
    """A run ended with questions."""

    thread: ThreadKey
    run_id: str
    protocol: str
    questions: tuple[Question, ...]
    digest: Digest  # of the canonical list of interrupts: equal digest, equal event
    order: Order
    origin: Origin
    native: JsonText | None = None  # run-level context for the body (endpoint, ids)
    repeats: bool = False  # a state that is told as long as it lasts, and no event of its own


class RunStarted(Struct, frozen=True, gc=False):
    """A run began, to continue the interrupts that it names; none where it names none.

    The start of our own resume run confirms that resume. That of any other run withdraws the open
    run if it names every interrupt of it.
    """

    thread: ThreadKey
    run_id: str
    order: Order
    origin: Origin
    resumes: tuple[str, ...] = ()


class RunFailed(Struct, frozen=True, gc=False):
    """The interrupted run reported an error afterwards."""

    thread: ThreadKey
    order: Order
    origin: Origin


class ResumeAnswered(Struct, frozen=True, gc=False):
    """The agent answered our own request, whatever it said: the resume has arrived."""

    thread: ThreadKey
    resume_run_id: ResumeRunId
    origin: Origin


class ResumeSeen(Struct, frozen=True, gc=False):
    """The newest run was continued, as what comes of it shows; closes nothing.

    `run_id` where the event says which run that is.
    """

    thread: ThreadKey
    order: Order
    origin: Origin
    run_id: str | None = None


class WentOn(Struct, frozen=True, gc=False):
    """The thread is past its question: withdraws the open run, else confirms our resume."""

    thread: ThreadKey
    order: Order
    origin: Origin


class ThreadEnded(Struct, frozen=True, gc=False):
    """The thread is at its end: as one that went on, and it opens nothing any more."""

    thread: ThreadKey
    reason: Literal["task_ended", "run_failed"]
    order: Order
    origin: Origin


class Keep(Struct, frozen=True, gc=False):
    """The context of a run, kept while it may ask and until what it asked is settled.

    `run_id` is `OF_THREAD` where the context is the thread's.
    """

    thread: ThreadKey
    run_id: str
    body: JsonText
    origin: Origin


class Drop(Struct, frozen=True, gc=False):
    """The context of a run, or of the thread (`OF_THREAD`), is of no use any more."""

    thread: ThreadKey
    run_id: str
    origin: Origin


class Patch(Struct, frozen=True, gc=False):
    """Members that replace those of the context of the run that began last; null takes one away."""

    thread: ThreadKey
    members: JsonText
    origin: Origin


class Outdate(Struct, frozen=True, gc=False):
    """What is kept of the run that began last is true no more, and nothing says what is."""

    thread: ThreadKey
    origin: Origin


OF_THREAD: Final = ""
"""Stands for the run where a context is not one run's but its thread's."""


class Announcement(Struct, frozen=True, gc=False, array_like=True):
    """A question that a run told before its end; equal digests, equal questions."""

    question: Question
    digest: Digest


class Announced(Struct, frozen=True, gc=False):
    """A run under way tells a question, which it asks if its end says nothing of it.

    `run_id` None: of the run that began last, else of one that nobody has named yet.
    """

    thread: ThreadKey
    announcement: Announcement
    origin: Origin
    run_id: str | None = None


class RunEnded(Struct, frozen=True, gc=False):
    """A run is over, and with it what it told; `asks` where its end leaves that to be asked.

    `run_id` None stands for the run that began last, the empty one for one that nobody has named.
    `in_order` False: records of the thread may have come by another way, so that what has no name
    is not known to be this run's. `explains`: that it asks nothing is right.
    """

    thread: ThreadKey
    protocol: str
    order: Order
    origin: Origin
    run_id: str | None
    asks: bool = False
    in_order: bool = True
    explains: bool = False


class Answer(Struct, frozen=True, gc=False, array_like=True):
    """An answer to one question, named by approval_id, by full identity, or by both."""

    origin: Origin
    status: AnswerStatus
    approval_id: ApprovalId | None = None
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
    problems: tuple[Problem, ...] = ()  # what was left out of it; its verdict lists them


class Operation(Struct, frozen=True, gc=False):
    """An operator closes (`withdraw`) or expires the open interrupts of (`expire`) one run."""

    origin: Origin
    op: Literal["withdraw", "expire"]
    approval_id: ApprovalId | None = None
    thread: ThreadKey | None = None
    run_id: str | None = None
    reason: str | None = None
    by: str | None = None


class Probe(Struct, frozen=True, gc=False):
    """A request whether a slot reads and writes; about no thread, so that it changes none."""

    origin: Origin
    slot: int


class Tick(Struct, frozen=True, gc=False):
    """Time passed: whatever was due in this thread by `until` (now, where None) happens now."""

    until: Millis | None = None


Movement = RunStarted | RunFailed | ResumeAnswered | ResumeSeen | WentOn | ThreadEnded
"""What says how a thread goes on after it asked."""

Placed = Interrupted | RunStarted | RunFailed | ResumeSeen | WentOn | ThreadEnded | RunEnded
"""What has a place in the order of its thread."""

Context = Keep | Drop | Patch | Outdate
"""What says which context is a run's."""

Input = Interrupted | Movement | Context | Announced | RunEnded | Answer | Operation | Tick


class Refusal(Struct, frozen=True, gc=False):
    """A record that becomes no input. `pointer` is a JSON Pointer, never a value."""

    reason: Reason
    detail: str = ""
    pointer: str = ""
