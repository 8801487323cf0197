"""The `Approval` record: one question of a run, from its first day to its last."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from bridge.records.instants import Instant
from bridge.records.shape import FreeJson, Origin


class Approval(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One question of an interrupted run, on the compacted topic `approvals`.

    It is written again whenever something about it changes: keep the highest `revision` of each
    `approval_id`, and drop it when its key comes with a null value. An answer is awaited while
    `status` is `pending`. Sets of words may grow: show a word that you do not know as it stands.
    """

    topic: ClassVar[Literal["approvals"]] = "approvals"

    approval_id: str
    """The question: a UUID made from source, scope, thread, run and interrupt. The record's key."""
    revision: int
    """Counts the states of this approval from 1. Not every revision survives compaction."""
    status: str
    """`pending`, then `answered`, `cancelled`, `expired`, `superseded` or `withdrawn`; may grow."""
    command_id: str
    """Of the one resume command that the run gets if it is resumed."""
    kind: str
    """`input`: answered on these topics; `authorization`: somewhere else. May grow."""
    protocol: str
    """By which the question came: `ag-ui`, `a2a` or `genkit`; may grow."""
    source: str
    """The configured name of the agents whose runs these are."""
    scope: str
    """What in a source has thread ids of its own (an agent, a tenant); empty where nothing has."""
    thread_id: str
    """Thread, task or session of the run."""
    run_id: str
    """The interrupted run."""
    interrupt_id: str
    """The question's id within its run. It may recur in other runs."""
    index: int
    """Place of the question within its run, from 0."""
    total: int
    """Number of questions of the run. It is resumed when each of them has ended."""
    flags: tuple[str, ...]
    """What a reader should know, such as `schema_unusable` or `ambiguous`; may grow."""
    published_at: Instant
    """When the bridge first published the question."""
    actions: tuple[str, ...]
    """What an answer's `action` may be, where the protocol has a choice; may grow."""
    origin: Origin
    """The run-finished event that asked."""
    run_outcome: str | None = None
    """None while the run is open; then `resumed`, `superseded`, `withdrawn` or `unresumable`, on
    each of its approvals. May grow."""
    reason: str | None = None
    """Why the agent asks, in the protocol's words."""
    message: str | None = None
    """For the person who answers. It is an agent's text: escape what you show."""
    tool_call_id: str | None = None
    """The tool call that the question is about."""
    subagent_run_id: str | None = None
    """AG-UI: run of the subagent that asks, where it is not the run's own agent."""
    response_schema: FreeJson = None
    """JSON Schema that the answer's payload must match."""
    metadata: FreeJson = None
    """What else the protocol said about the question."""
    expires_at: Instant | None = None
    """From this instant on an answer is too late. None: never."""
    expires_at_raw: str | None = None
    """The expiry as the agent wrote it."""
    authorize_at: str | None = None
    """Where to go to authorize, for kind `authorization`."""
    answer_id: str | None = None
    """The answer that counts."""
    answered_by: str | None = None
    """Who gave it, as the answer says; nobody has checked the name."""
    answered_at: Instant | None = None
    """Timestamp of the answer's record."""
    closed_at: Instant | None = None
    """When the question stopped waiting for an answer."""
    closed_reason: str | None = None
    """Why it did, such as `answered`, `expired` or `moved_on`; may grow."""

    @property
    def key(self) -> bytes:
        """The record's key."""
        return self.approval_id.encode()

    @property
    def event_id(self) -> str:
        """`ce_id`: one for each revision."""
        return f"{self.approval_id}:{self.revision}"
