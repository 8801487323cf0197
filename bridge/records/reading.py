"""Reading what people and other teams send: known words only, bounded texts, whole identities.

Shared by answers and operations. A record that cannot be used is a value with all that its one
verdict needs; messages name fields and types, never what stood in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeGuard

import msgspec

from bridge.core.ids import RunKey, thread_hash
from bridge.core.model import (
    ApprovalId,
    Counted,
    JsonText,
    Judged,
    Limits,
    Millis,
    Origin,
    Problem,
    Reason,
    Refusal,
    ThreadKey,
    Verdict,
)
from bridge.core.record import Record
from bridge.records.shape import FreeJson

Count = Callable[[Counted], None]

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_IDENTITY = frozenset({"source", "scope", "thread_id", "run_id", "interrupt_id"})

ANSWER_ID_MAX = 256
"""Characters of an answer id."""


@dataclass(frozen=True, slots=True)
class BadAnswer:
    """An answer or operation that becomes no input: one verdict, and a dead letter.

    The ids are there where they could be read; `answer_id` is the sender's own.
    """

    origin: Origin
    refusal: Refusal
    answer_id: str | None = None
    approval_id: ApprovalId | None = None

    @property
    def verdict(self) -> Verdict:
        """`malformed`, except for a record that is larger than one may be."""
        return "too_large" if self.refusal.reason == "too_large" else "malformed"

    def judged(self, now: Millis) -> Judged:
        """The one verdict on this record."""
        return Judged(
            verdict=self.verdict,
            origin=self.origin,
            answer_id=self.answer_id or str(self.origin),
            decided_at=now,
            approval_id=self.approval_id,
            problems=(Problem(self.refusal.pointer, self.refusal.detail),),
        )


class Unusable(Exception):
    """Ends the reading of one record; the reader turns it into a BadAnswer."""

    def __init__(
        self,
        reason: Reason,
        detail: str,
        pointer: str = "",
        members: Mapping[str, object] | None = None,
    ) -> None:
        """`members`: what of the record could be read."""
        super().__init__(detail)
        self.refusal = Refusal(reason, detail, pointer)
        self.members = members or {}


def uncounted(counted: Counted) -> None:
    """Where nobody asks what was read leniently."""


def check_word(word: str, words: tuple[str, ...], pointer: str) -> None:
    """Raises Unusable for a word that is none of `words`.

    The types hold texts, so that a reader of an older release can show a word that it does not
    know.
    """
    if word not in words:
        raise Unusable("malformed", f"must be {' or '.join(words)}, spelled so", pointer)


def check_texts(wire: msgspec.Struct, limits: Limits) -> None:
    """Raises Unusable for a text that is longer than one may be: they are kept and sent again."""
    for name in wire.__struct_fields__:
        text = getattr(wire, name)
        ids = limits.id_bytes if name in _IDENTITY else 0
        most = max(limits.text_bytes, ids)
        if isinstance(text, str) and len(text.encode()) > most:
            raise Unusable("too_large", f"longer than {most} bytes", f"/{name}")


def named(text: str | None) -> str | None:
    """A text, or None where it is empty: serializers write both for what is not there."""
    return text or None


def bad(record: Record, problem: Unusable, read: msgspec.Struct | None) -> BadAnswer:
    """What is left of a record that cannot be used, with the ids that could be read."""
    members = problem.members if read is None else msgspec.structs.asdict(read)
    answer_id, approval_id = members.get("answer_id"), members.get("approval_id")
    good = isinstance(answer_id, str) and 0 < len(answer_id) <= ANSWER_ID_MAX
    return BadAnswer(
        origin=record.origin,
        refusal=problem.refusal,
        answer_id=answer_id if good and isinstance(answer_id, str) else None,
        approval_id=approval_id if is_id(approval_id) else None,
    )


def is_id(value: object) -> TypeGuard[ApprovalId]:
    """Whether this is an id as the bridge writes them: lower case, with hyphens."""
    return isinstance(value, str) and _UUID.fullmatch(value) is not None


def checked_id(approval_id: str | None) -> ApprovalId | None:
    """The id as one of the bridge. Raises Unusable for what the bridge cannot have made."""
    if approval_id is None or is_id(approval_id):
        return approval_id
    detail = "not an approval id (a lower-case UUID)"
    if is_id(approval_id.lower()):
        detail = "write the approval id as it was published, in lower case"
    raise Unusable("malformed", detail, "/approval_id")


def optional_text(raw: FreeJson) -> JsonText | None:
    """The slice of free JSON; absent and null are the same."""
    text = None if raw is None else bytes(raw)
    return None if text == b"null" else text


def thread_named(
    source: str | None, scope: str | None, thread_id: str | None, **rest: str | None
) -> ThreadKey | None:
    """The thread of an identity that is given in whole, None where none is given.

    `rest` are its further parts; scope alone may be left out, and an empty part is left out.
    Raises Unusable for half of one.
    """
    parts: dict[str, str | None] = {"source": source, "thread_id": thread_id, **rest}
    missing = [name for name, part in parts.items() if not part]
    if source and thread_id and not missing:
        return ThreadKey(source, scope or "", thread_id)
    if not scope and len(missing) == len(parts):
        return None
    raise Unusable(
        "malformed", f"the identity is not complete: needs {', '.join(parts)}", f"/{missing[0]}"
    )


def agreed_approval_id(
    approval_id: ApprovalId | None, thread: ThreadKey, run_id: str, interrupt_id: str
) -> ApprovalId:
    """The approval id of a full identity. Raises Unusable if another one is given with it."""
    computed = RunKey.of(thread, run_id).approval_id(interrupt_id)
    if approval_id not in {None, computed}:
        raise _contradiction()
    return computed


def check_same_thread(approval_id: ApprovalId, thread: ThreadKey) -> None:
    """Raises Unusable if the approval id was made for another thread id."""
    if int(approval_id[:8], 16) != thread_hash(thread.thread_id):
        raise _contradiction()


def _contradiction() -> Unusable:
    return Unusable(
        "malformed", "approval_id and identity name different questions", "/approval_id"
    )
