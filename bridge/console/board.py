"""The board: which questions are pending, folded from the approvals topic.

Keeps the highest revision of each approval; a closed one leaves nothing but its revision.
"""

from __future__ import annotations

from dataclasses import dataclass

from bridge.core.record import Record
from bridge.records import Approval, NotARecord, decode


@dataclass(frozen=True, slots=True)
class Shown:
    """An approval and the record's own text."""

    view: Approval
    text: bytes


class Board:
    """Feed it every record of the approvals topic, in order within a partition."""

    def __init__(self) -> None:
        self._pending: dict[str, Shown] = {}
        self._revisions: dict[str, int] = {}
        self.unreadable = 0
        """Records that are no approval: another encoding, or a foreign writer."""

    def take(self, record: Record) -> Shown | None:
        """Fold one record in; what it says where that is news, None where it is not."""
        try:
            approval = decode(Approval, record)
        except NotARecord:
            self.unreadable += 1
            return None
        if approval is None or record.value is None:
            forgotten = (record.key or b"").decode(errors="replace")
            self._pending.pop(forgotten, None)
            self._revisions.pop(forgotten, None)
            return None
        approval_id = approval.approval_id
        if approval.revision <= self._revisions.get(approval_id, 0):
            return None
        self._revisions[approval_id] = approval.revision
        shown = Shown(approval, record.value)
        if approval.status == "pending":
            self._pending[approval_id] = shown
        else:
            self._pending.pop(approval_id, None)
        return shown

    def pending(self, source: str | None = None) -> list[Shown]:
        """The open questions, oldest first; of one source if it is named."""
        chosen = [s for s in self._pending.values() if source in (None, s.view.source)]
        return sorted(chosen, key=lambda s: (s.view.published_at, s.view.thread_id, s.view.index))
