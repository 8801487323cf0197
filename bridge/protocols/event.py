"""One record on its way through the reader of a protocol, and what each of them does with it.

A protocol's own event adds what only that protocol knows; nothing here calls back into it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, Generic, Self, TypeVar, cast

from bridge.core import json_text
from bridge.core.instants import is_usable
from bridge.core.json_text import JsonError
from bridge.core.model import Counted, Input, Limits, Millis, Reason, Refusal
from bridge.protocols.fields import Unreadable
from bridge.protocols.interface import Reading, Record

_UNREAD: Final = object()


OptionsT = TypeVar("OptionsT")


class RawEvent(Generic[OptionsT]):
    """Where a record came from, its source's `options`, and in `seen` what was forgiven in it."""

    __slots__ = ("_strict", "limits", "options", "record", "seen", "source", "value")

    def __init__(
        self, value: bytes, record: Record, source: str, limits: Limits, options: OptionsT
    ) -> None:
        self.value = value
        self.record = record
        self.source = source
        self.limits = limits
        self.options = options
        self.seen: set[str] = set()
        self._strict: Any = _UNREAD

    def strictly(self) -> Any:
        """The whole value, held to every rule of strict JSON; read once, whoever needs it."""
        if self._strict is _UNREAD:
            self._strict = json_text.read(self.value, self.limits.json_depth)
        return self._strict

    @property
    def is_strict(self) -> bool:
        """Whether the value is known to keep every rule of strict JSON."""
        return self._strict is not _UNREAD

    def at(self, own: object = None) -> Millis:
        """When it was written: its record's instant, else its own where only that is usable."""
        written = self.record.origin.timestamp
        if not is_usable(written) and isinstance(own, int) and is_usable(own):
            return own
        return written

    def key_text(self) -> str | None:
        """The record's key, where it is a text."""
        try:
            return None if self.record.key is None else self.record.key.decode()
        except UnicodeDecodeError:
            return None

    def reading(self, *inputs: Input) -> Reading:
        return Reading(inputs, counts=self.counts())

    def read_by(self, reader: Callable[[Self], Reading]) -> Reading:
        """What `reader` makes of it, with refusals as values; what is unfit it never sees."""
        size, most = len(self.value), self.limits.record_bytes
        if not size:
            return Reading(refusal=Refusal("empty", "the value is empty"))
        if size > most:
            return Reading(refusal=Refusal("too_large", f"larger than {most} bytes"))
        try:
            return reader(self)
        except (JsonError, Unreadable) as error:
            return Reading(refusal=refusal_of(error), counts=self.counts())

    def unattributable(self) -> Reading:
        """It says something of a thread, and nothing says which."""
        return Reading(counts=(*self.counts(), Counted("unattributable", self.source)))

    def counts(self) -> tuple[Counted, ...]:
        """Each thing once per record, in a fixed order."""
        if not self.seen:
            return ()
        return tuple(Counted("lenient", kind) for kind in sorted(self.seen))


def refusal_of(error: JsonError | Unreadable) -> Refusal:
    """The refusal that an error of reading stands for."""
    if isinstance(error, Unreadable):
        return error.refusal
    return Refusal(cast(Reason, error.code), str(error))


def loosely(value: bytes) -> Any:
    """The value for a standard parser without our rules, NaN as null; None where it is no JSON."""
    try:
        return json.loads(value.decode(), parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
