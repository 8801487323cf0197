"""A naive reading of answers and operations: what was given, for which question, or nothing.

Only three things are distinguished: surely well-formed, surely malformed, and left open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from bridge.audit import text
from bridge.audit.framing import Unsure, bare
from bridge.audit.ids import make_id
from bridge.audit.log import LogRecord, text_of

_IDENTITY = ("source", "thread_id", "run_id", "interrupt_id")
_NAMES = frozenset({"approval_id", "scope", *_IDENTITY})
_ANSWER = _NAMES | {
    *("status", "payload", "metadata", "answer_id", "answered_by", "answered_at"),
    *("comment", "action", "revised_input"),
}
_OPERATION = (_NAMES - {"interrupt_id"}) | {"op", "slot", "reason", "by"}
_TEXTS = _NAMES | {"answer_id", "answered_by", "comment", "reason", "by"}
_ACTIONS = (None, "restart", "respond")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_STATUSES = {"resolved": "resolved", "cancelled": "cancelled", "abandoned": "cancelled"}
_OPERATIONS = frozenset({"withdraw", "expire", "probe"})


@dataclass(frozen=True, slots=True)
class Given:
    """One record of the answers or operations topic. `sound` None: left open."""

    record: LogRecord
    sound: bool | None
    body: dict[str, Any]
    approval_id: str | None = None  # named, or computed from the full identity

    @property
    def answer_id(self) -> str:
        return str(self.body.get("answer_id") or text_of(self.record.place))

    @property
    def is_answer(self) -> bool:
        return self.record.role == "answers"

    @property
    def slot(self) -> int | None:
        """Which slot a probe asks for; None of anything else, or where that is left open."""
        return text.integer(self.body.get("slot")) if self.body.get("op") == "probe" else None

    @property
    def status(self) -> str | None:
        return _STATUSES.get(str(self.body.get("status")))

    @property
    def thread(self) -> str | None:
        named = self.body.get("thread_id")
        return named if isinstance(named, str) else None

    def equals(self, other: Given) -> bool:
        """Equality of answers: status, payload, action and revised_input as JSON values."""
        return text.same(self._weighed(), other._weighed())

    def _weighed(self) -> list[Any]:
        payload = self.body.get("payload") if self.status == "resolved" else None
        return [self.status, payload, self.body.get("action"), self.body.get("revised_input")]


def read_given(
    record: LogRecord, max_depth: int, max_bytes: int, slots: int | None = None
) -> Given | None:
    """What the record says, its body empty where it is unreadable; None for a frame around null."""
    if len(record.value or b"") > max_bytes:
        return Given(record, None, {})
    body: Any = None
    sound: bool | None = False
    try:
        inner = bare(record)
        if inner.value is None:
            return None
        body = text.read(inner.value, max_depth)
    except text.Unreadable:
        pass
    except Unsure:
        sound = None
    if not isinstance(body, dict):
        return Given(record, sound, {})
    if record.role == "operations" and body.get("op") == "probe":
        return Given(record, _is_sound_probe(body, slots), body)
    # Serializers write empty texts for what is absent.
    body = {k: v for k, v in body.items() if v != "" or k not in {*_TEXTS, "action"}}
    named, computed = body.get("approval_id"), None
    if all(_is_text(body.get(name)) for name in _IDENTITY):
        source, *rest = (body[name] for name in _IDENTITY)
        computed = make_id("approval", source, body.get("scope") or "", *rest)
    approval_id = named if _is_text(named) else computed
    if _malformed(record, body, computed):
        return Given(record, False, body, approval_id)
    left_open = not isinstance(body.get("metadata") or {}, dict)
    return Given(record, None if left_open or approval_id is None else True, body, approval_id)


def _is_sound_probe(body: dict[str, Any], slots: int | None) -> bool | None:
    """Whether it names one slot that there is, and nothing else; None where that is left open."""
    texts = (body[name] for name in _TEXTS & set(body))
    if (
        not set(body) <= _OPERATION
        or any(body.get(name) for name in _NAMES)
        or not all(value is None or _is_text(value) for value in texts)
        or not isinstance(body.get("slot"), text.Number)
    ):
        return False
    slot = text.integer(body["slot"])
    if slot is None or (slots is None and slot >= 0):
        return None
    return slot >= 0 and (slots is None or slot < slots)


def _malformed(record: LogRecord, body: dict[str, Any], computed: str | None) -> bool:
    """Whether a member is unknown or no text, or the question is named by halves or doubly."""
    answer = record.role == "answers"
    named = body.get("approval_id")
    texts = (body[name] for name in _TEXTS & set(body))
    half = computed is None and any(body.get(name) is not None for name in _IDENTITY)
    return (
        not set(body) <= (_ANSWER if answer else _OPERATION)
        or not all(value is None or _is_text(value) for value in texts)
        or body.get("action") not in _ACTIONS
        or (body.get("status") not in _STATUSES if answer else body.get("op") not in _OPERATIONS)
        or body.get("slot") is not None
        or (named is not None and _ID.fullmatch(named) is None)
        or (named is not None and computed is not None and named != computed)
        or (answer and (half or (named is None and computed is None)))
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, text.Number)
