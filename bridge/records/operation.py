"""The `Operation` record, which operators write: what is to be done with one run, or one slot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec


class Operation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An operator's order about one run, or a probe of one slot, for the topic `operations`.

    A run is named by any of its approvals, or by source, scope (where it is not empty), thread_id
    and run_id together. The bridge refuses fields that it does not know.
    """

    words: ClassVar[Mapping[str, tuple[str, ...]]] = {"op": ("withdraw", "expire", "probe")}

    op: str
    """`withdraw` closes the run without a command, `expire` lets its open questions expire now,
    `probe` asks whether a slot is served. May grow."""
    approval_id: str | None = None
    source: str | None = None
    scope: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    slot: int | None = None
    """Of a probe: the number of the slot, from 0. Its answer is the verdict `probed`."""
    reason: str | None = None
    """Why, for people."""
    by: str | None = None
    """Who, for people."""

    @property
    def key(self) -> bytes | None:
        """The thread, whose partition needs no hop; else the approval, which may cost one."""
        named = self.thread_id or self.approval_id
        return named.encode() if named else None

    @property
    def event_id(self) -> None:
        """None: what is sent to the bridge is no CloudEvent."""
