"""The board: which questions are pending, folded from the approvals topic.

Keeps the highest revision of each approval; a closed one leaves nothing but its revision.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import msgspec

from bridge.core.record import Record


class ApprovalView(msgspec.Struct, frozen=True):
    """The fields of an `Approval` that a person is shown; fields of later releases are skipped."""

    approval_id: str
    revision: int
    status: str
    source: str
    thread_id: str
    run_id: str
    interrupt_id: str
    published_at: datetime
    kind: str = "input"
    index: int = 0
    total: int = 1
    reason: str | None = None
    message: str | None = None
    expires_at: datetime | None = None
    closed_reason: str | None = None
    run_outcome: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """An approval and the record's own JSON text."""

    view: ApprovalView
    text: bytes


class Board:
    """Feed it every record of the approvals topic, in order within a partition."""

    def __init__(self) -> None:
        self._pending: dict[str, Shown] = {}
        self._revisions: dict[str, int] = {}
        self.unreadable = 0
        """Records that are no approval in JSON; another encoding, or a foreign writer."""

    def take(self, record: Record) -> Shown | None:
        """Fold one record in; what it says where that is news, None where it is not."""
        if record.value is None:
            # Not only our own tombstones: keys of other kinds carry a null at each takeover.
            self._forget((record.key or b"").decode(errors="replace"))
            return None
        try:
            view = _decode(record.value)
        except msgspec.DecodeError:
            self.unreadable += 1
            return None
        if view.revision <= self._revisions.get(view.approval_id, 0):
            return None
        return self._keep(Shown(view, record.value))

    def pending(self, source: str | None = None) -> list[Shown]:
        """The open questions, oldest first; of one source if it is named."""
        chosen = [s for s in self._pending.values() if source in (None, s.view.source)]
        return sorted(chosen, key=lambda s: (s.view.published_at, s.view.thread_id, s.view.index))

    def _keep(self, shown: Shown) -> Shown:
        approval_id = shown.view.approval_id
        self._revisions[approval_id] = shown.view.revision
        if shown.view.status == "pending":
            self._pending[approval_id] = shown
        else:
            self._pending.pop(approval_id, None)
        return shown

    def _forget(self, approval_id: str) -> None:
        self._pending.pop(approval_id, None)
        self._revisions.pop(approval_id, None)


_decode = msgspec.json.Decoder(ApprovalView).decode
