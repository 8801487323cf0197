"""Reading what people and other teams send: strict JSON, known fields only, whole identities.

Shared by answers and operations. A record that cannot be used is a value with all that its one
verdict needs; messages name fields and types, never what stood in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from bridge.core import json_text
from bridge.core.ids import RunKey, thread_hash
from bridge.core.json_text import JsonError
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

Count = Callable[[Counted], None]

_T = TypeVar("_T", bound=msgspec.Struct)

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_PATH = re.compile(r"- at `\$\.?(.*?)`$")
_EXPECTED = re.compile(r"Expected `[^`]*`(?: of length <= \d+)?")
_NAME_MAX = 200
_IDENTITY = frozenset({"source", "scope", "thread_id", "run_id", "interrupt_id"})

ANSWER_ID_MAX = 256
"""Characters of an answer id."""

_REASONS: dict[str, Reason] = {
    "empty": "empty",
    "not_json": "not_json",
    "json_rules": "json_rules",
    "too_deep": "too_deep",
}


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

    def __init__(self, reason: Reason, detail: str, pointer: str = "") -> None:
        super().__init__(detail)
        self.refusal = Refusal(reason, detail, pointer)


def uncounted(counted: Counted) -> None:
    """Where nobody asks what was read leniently."""


def read_object(record: Record, limits: Limits) -> dict[str, Any]:
    """The record's value as a JSON object. Raises Unusable."""
    value = record.value or b""
    if len(value) > limits.record_bytes:
        raise Unusable("too_large", f"the record has more than {limits.record_bytes} bytes")
    try:
        read = json_text.read(value, limits.json_depth)
    except JsonError as error:
        raise Unusable(_REASONS.get(error.code, "not_json"), str(error)) from None
    if not isinstance(read, dict):
        raise Unusable("malformed", "the value is not a JSON object")
    return read


def convert(decoder: msgspec.json.Decoder[_T], value: bytes, known: dict[str, Any]) -> _T:
    """The value as the decoder's struct, free JSON as slices. `known` is the same value, read."""
    _refuse_unknown(decoder.type.__struct_encode_fields__, known)
    try:
        return decoder.decode(value)
    except msgspec.ValidationError as error:
        raise _unfit(str(error), decoder.type) from None


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


def bad(record: Record, refusal: Refusal, read: dict[str, Any]) -> BadAnswer:
    """What is left of a record that cannot be used, with the ids that could be read."""
    answer_id, approval_id = read.get("answer_id"), read.get("approval_id")
    return BadAnswer(
        origin=record.origin,
        refusal=refusal,
        answer_id=answer_id if _is_answer_id(answer_id) else None,
        approval_id=approval_id if is_id(approval_id) else None,
    )


def _is_answer_id(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= ANSWER_ID_MAX


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


def optional_text(raw: msgspec.Raw) -> JsonText | None:
    """The slice of free JSON; absent and null are the same."""
    text = bytes(raw)
    return None if text in {b"", b"null"} else text


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


def _refuse_unknown(fields: tuple[str, ...], read: dict[str, Any]) -> None:
    unknown = sorted(read.keys() - set(fields))
    if unknown:
        right = {_letters(field): field for field in fields}.get(_letters(unknown[0]))
        detail = f"unknown field: write {right}" if right else "unknown field"
        raise Unusable("malformed", detail, f"/{_pointer_token(unknown[0])}")


def _letters(name: str) -> str:
    """Equal for a name in camelCase, PascalCase, kebab-case and snake_case."""
    return name.replace("_", "").replace("-", "").casefold()


def _pointer_token(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")[:_NAME_MAX]


def _unfit(message: str, shape: Any) -> Unusable:
    """The decoder's message without what it quotes from the record."""
    path = _PATH.search(message)
    pointer = f"/{path[1].replace('.', '/')}" if path and path[1] else ""
    missing = re.search(r"missing required field `(\w+)`", message)
    if missing:
        return Unusable("malformed", "required field is missing", f"{pointer}/{missing[1]}")
    words = _words(shape, pointer[1:])
    if words:
        return Unusable("malformed", f"must be {' or '.join(words)}, spelled so", pointer)
    expected = _EXPECTED.search(message)
    return Unusable("malformed", expected[0] if expected else "value is not allowed here", pointer)


def _words(shape: Any, field: str) -> list[str]:
    """What a field of a closed set may be; empty for any other field."""
    hint = get_type_hints(shape).get(field)
    literals = [hint, *get_args(hint)]
    return [
        word for one in literals if get_origin(one) is Literal for word in get_args(one) if word
    ]
