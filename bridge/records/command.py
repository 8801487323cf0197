"""The `ResumeCommand` record: the one order to continue a run, with all its answers."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from bridge.records.instants import Instant
from bridge.records.shape import FreeJson, Origin


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """How one question of the run ended."""

    interrupt_id: str
    approval_id: str
    status: str
    """What the agent gets: `resolved` or `cancelled`, which expired ones are, too. May grow."""
    closed_reason: str
    """Why the question closed, such as `answered` or `expired`; may grow."""
    payload: FreeJson = None
    metadata: FreeJson = None
    answered_by: str | None = None
    """As the answer says; nobody has checked the name."""
    answered_at: Instant | None = None
    """Timestamp of the answer's record."""


class Native(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The request that continues the run, in the agent protocol's own form."""

    method: str
    """The protocol's: `run`, `SendMessage`, `CancelTask`, `resume`; may grow."""
    headers: dict[str, str]
    """Request headers that the protocol asks for. Never credentials."""
    body: msgspec.Raw
    """The body to send as it stands."""
    notes: tuple[str, ...]
    """What an executor should know, such as `continuity_omitted`; may grow."""
    endpoint: str | None = None
    """Where to send it, where the event said so."""


class ResumeCommand(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The order to continue one interrupted run. There is at most one for each run.

    Send `native.body` as it stands. The command is issued once, but whoever reads it may be
    restarted: `command_id` is the executor's idempotency key. After `deliver_by` it must not be
    sent.
    """

    topic: ClassVar[Literal["resume-commands"]] = "resume-commands"

    command_id: str
    protocol: str
    """To continue by: `ag-ui`, `a2a` or `genkit`; may grow."""
    source: str
    """The configured name of the agents whose runs these are."""
    scope: str
    """What in a source has thread ids of its own; empty where nothing has."""
    thread_id: str
    """Thread, task or session of the run. The record's key."""
    run_id: str
    """The interrupted run."""
    resume_run_id: str
    """Of the run that continues it."""
    entries: tuple[Entry, ...]
    """One for each question, in the order of the run."""
    completed_by: str
    """What ended the waiting: `answers` (cancelled ones, too), `expiry` or `mixed`; may grow."""
    native: Native
    """Ready to send."""
    issued_at: Instant
    """By broker time."""
    origin: Origin
    """The run-finished event that asked."""
    deliver_by: Instant | None = None
    """Earliest expiry among the resolved entries. None: no limit."""

    @property
    def key(self) -> bytes:
        """The record's key."""
        return self.thread_id.encode()

    @property
    def event_id(self) -> str:
        """`ce_id`."""
        return self.command_id
