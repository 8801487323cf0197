"""The `Answer` record, which other teams write: one person's word on one question."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal

import msgspec

from bridge.records.approval import Approval
from bridge.records.instants import Instant
from bridge.records.shape import FreeJson


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An answer to one question, for the topic `answers`; `answer_for` makes one.

    It names its question by `approval_id`, or by source, scope (where it is not empty), thread_id,
    run_id and interrupt_id together, nothing less. Where both are given they must agree. The bridge
    refuses fields that it does not know, and publishes exactly one verdict on each answer.
    """

    words: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "status": ("resolved", "cancelled", "abandoned"),
        "action": ("restart", "respond"),
    }

    status: str
    """`resolved` or `cancelled`; `abandoned` is read as the latter. May grow."""
    approval_id: str | None = None
    """The approval that is answered."""
    source: str | None = None
    scope: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    interrupt_id: str | None = None
    payload: FreeJson = None
    """The answer itself, as the question's `response_schema` wants it; absent is null."""
    metadata: FreeJson = None
    """Passed on with the answer."""
    answer_id: str | None = None
    """Your key for sending the same answer twice safely, scoped to the question; the verdict has
    it. At most 256 characters."""
    answered_by: str | None = None
    """Who answers. Compared with the source's allowed answerers; no authentication."""
    answered_at: FreeJson = None
    """When the person answered, by your clock: an RFC 3339 text. It decides nothing, so nothing is
    refused for it, and whatever stands here is carried as it came."""
    comment: str | None = None
    """For people. Not passed on to the agent."""
    action: str | None = None
    """`restart` or `respond`: what to do with a paused tool, where the protocol has a choice."""
    revised_input: FreeJson = None
    """New input for a restarted tool."""

    @property
    def key(self) -> bytes | None:
        """The thread, whose partition needs no hop; else the approval, which may cost one."""
        named = self.thread_id or self.approval_id
        return named.encode() if named else None

    @property
    def event_id(self) -> None:
        """None: what is sent to the bridge is no CloudEvent."""


def answer_for(
    approval: Approval,
    *,
    payload: Any = None,
    status: Literal["resolved", "cancelled"] = "resolved",
    answered_by: str | None = None,
    answered_at: datetime | None = None,
    answer_id: str | None = None,
    comment: str | None = None,
    metadata: Any = None,
    action: Literal["restart", "respond"] | None = None,
    revised_input: Any = None,
) -> Answer:
    """The answer to an approval that was read.

    `payload`, `metadata` and `revised_input` are values that JSON can hold, or `msgspec.Raw` with
    JSON text that goes out as it stands. `answered_at` needs a time zone. Raises ValueError for a
    payload of a cancelled answer: the bridge would drop it.

    >>> answer = answer_for(approval, payload={"approved": True}, answered_by="ann@example.org")
    >>> bytes(answer.payload)
    b'{"approved":true}'
    """
    if status == "cancelled" and payload is not None:
        raise ValueError("a cancelled answer has no payload")
    return Answer(
        status=status,
        approval_id=approval.approval_id,
        source=approval.source,
        scope=approval.scope or None,
        thread_id=approval.thread_id,
        run_id=approval.run_id,
        interrupt_id=approval.interrupt_id,
        payload=_json(payload),
        metadata=_json(metadata),
        answer_id=answer_id,
        answered_by=answered_by,
        answered_at=_json(None if answered_at is None else Instant.of(answered_at).text),
        comment=comment,
        action=action,
        revised_input=_json(revised_input),
    )


def _json(value: Any) -> FreeJson:
    if value is None or isinstance(value, msgspec.Raw):
        return value
    return msgspec.Raw(msgspec.json.encode(value))
