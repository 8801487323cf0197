"""A naive reading of answers and operations: what was given, for which question, or nothing.

Only three things are told apart: surely well-formed, surely malformed, and left open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from bridge.demo.check import text
from bridge.demo.check.ids import make_id
from bridge.demo.check.log import LogRecord, text_of

_IDENTITY = ("source", "thread_id", "run_id", "interrupt_id")
_TEXTS = frozenset(
    {"approval_id", "source", "scope", "thread_id", "run_id", "interrupt_id"}
    | {"answer_id", "answered_by", "comment", "op", "reason", "by"}
)
_FREE = frozenset({"payload", "metadata", "revised_input", "answered_at", "action", "status"})
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_STATUSES = {"resolved": "resolved", "cancelled": "cancelled", "abandoned": "cancelled"}
_OPERATIONS = frozenset({"withdraw", "expire"})


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


def read_given(record: LogRecord, max_depth: int, max_bytes: int) -> Given:
    """What the record says; a `Given` that is not sound has an empty body where unreadable."""
    if len(record.value or b"") > max_bytes:
        return Given(record, None, {})
    try:
        body = text.read(record.value, max_depth)
    except text.Unreadable:
        return Given(record, False, {})
    if not isinstance(body, dict):
        return Given(record, False, {})
    named = body.get("approval_id")
    computed = _computed(body)
    sound = _sound(record, body)
    contradicts = bool(named and computed and named != computed)
    half = computed is None and any(body.get(name) is not None for name in _IDENTITY)
    nameless = (half or (named is None and computed is None)) and record.role == "answers"
    if contradicts or nameless:
        return Given(record, False, body)
    approval_id = named if _is_text(named) else computed
    sound = sound and _ID.fullmatch(approval_id or "") is not None
    return Given(record, True if sound else None, body, approval_id)


def _computed(body: dict[str, Any]) -> str | None:
    if not all(_is_text(body.get(name)) for name in _IDENTITY):
        return None
    source, thread, run, interrupt = (body[name] for name in _IDENTITY)
    return make_id("approval", source, body.get("scope") or "", thread, run, interrupt)


def _sound(record: LogRecord, body: dict[str, Any]) -> bool:
    """Known members only, texts where texts belong, a status or an operation that exists."""
    if not set(body) <= _TEXTS | _FREE:
        return False
    if not all(_is_text(body[name]) for name in _TEXTS & set(body)):
        return False
    if "action" in body or "answered_at" in body or "revised_input" in body:
        return False  # left open: what they may hold depends on the protocol
    if not isinstance(body.get("metadata", {}), dict):
        return False
    if record.role == "operations":
        return body.get("op") in _OPERATIONS and bool(body.get("approval_id"))
    return body.get("status") in _STATUSES


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, text.Number)
