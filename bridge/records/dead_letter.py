"""The `DeadLetter` record: one that could not be used, unchanged, with why and whence in headers.

What does not fit into one record is cut, never refused: a dead letter must always be writable.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, Literal

import msgspec
from msgspec.structs import replace

from bridge.core.model import Limits, Origin, Refusal
from bridge.core.record import Header, Record
from bridge.records.origin_headers import KEY, origin_headers, origin_in, parted
from bridge.records.outgoing import Outgoing

_DETAIL_MAX = 1_000
_PER_HEADER = 10  # two length varints of a record header
_PER_RECORD = 512  # batch and record framing, and the headers that say what was cut

_REASON: Final = "bridge-reason"
_DETAIL: Final = "bridge-detail"
_SOURCE: Final = "bridge-source"
_SHA256: Final = "bridge-sha256"
_SIZE: Final = "bridge-size"
_DROPPED: Final = "bridge-headers-dropped"


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A record that could not be used, with key, value and headers as they came.

    Everything else stands in `bridge-*` headers, behind those of the sender. One that does not fit
    holds the first part of its value, with hash and size of the whole.
    """

    topic: ClassVar[Literal["dead-letters"]] = "dead-letters"

    key: bytes | None
    value: bytes | None
    sent_headers: tuple[Header, ...]
    """The sender's own."""
    reason: str
    """Why, such as `not_json` or `run_conflict`; may grow."""
    detail: str
    """JSON Pointer to what is wrong, or a few words; never anything of the payload."""
    source: str
    """The configured name of the agents that the event came from; empty for answers and others."""
    origin: Origin
    """Topic, partition, offset and timestamp (milliseconds since the epoch) that it had. A producer
    may have stamped it with any 64-bit number."""
    origin_key: bytes | None
    """Its key there, which is the letter's own."""
    sha256: str | None = None
    """Of the whole value, in hexadecimal, where it was cut."""
    size: int | None = None
    """Bytes of the whole value, where it was cut."""
    headers_dropped: int | None = None
    """How many headers of the sender had to go."""

    @classmethod
    def decoded(
        cls, key: bytes | None, value: bytes | None, headers: Sequence[Header]
    ) -> DeadLetter:
        """The letter that a record holds. Raises ValueError for what the bridge did not write."""
        sent, ours = parted(headers) or ((), {})
        if _REASON not in ours:
            raise ValueError("no bridge-reason")
        return cls(
            key=key,
            value=value,
            sent_headers=sent,
            reason=ours[_REASON].decode(),
            detail=ours.get(_DETAIL, b"").decode(),
            source=ours.get(_SOURCE, b"").decode(),
            origin=origin_in(ours),
            origin_key=ours.get(KEY),
            sha256=ours[_SHA256].decode() if _SHA256 in ours else None,
            size=int(ours[_SIZE]) if _SIZE in ours else None,
            headers_dropped=int(ours[_DROPPED]) if _DROPPED in ours else None,
        )

    @property
    def headers(self) -> tuple[Header, ...]:
        """The sender's, then the bridge's."""
        return self.sent_headers + self.bridge_headers

    @property
    def bridge_headers(self) -> tuple[Header, ...]:
        """Whence it came, why it is here, and what was cut."""
        cut = ((_SHA256, self.sha256), (_SIZE, self.size), (_DROPPED, self.headers_dropped))
        return (
            *origin_headers(self.origin, self.origin_key),
            (_REASON, self.reason.encode()),
            (_DETAIL, self.detail.encode()),
            (_SOURCE, self.source.encode()),
            *((name, str(said).encode()) for name, said in cut if said is not None),
        )


def dead_letter(record: Record, refusal: Refusal, source: str, limits: Limits) -> Outgoing:
    """The record for dead-letters: key, value and headers as they came where they fit.

    A record over `limits.record_bytes` keeps the first part of its value.
    """
    record = record.as_it_came
    letter = DeadLetter(
        key=record.key,
        value=record.value,
        sent_headers=tuple(record.headers),
        reason=refusal.reason,
        detail=(refusal.pointer or refusal.detail)[:_DETAIL_MAX],
        source=source,
        origin=record.origin,
        origin_key=record.key,
    )
    room = limits.record_bytes - _PER_RECORD
    if record_size(record) > room - _size(letter.bridge_headers):
        letter = _cut(letter, room)
    return Outgoing(letter.topic, letter.key, letter.value, letter.headers)


def record_size(record: Record) -> int:
    """Bytes of value, key and headers as they came, uncompressed; framing of headers is counted."""
    record = record.as_it_came
    return _size(record.headers) + len(record.key or b"") + len(record.value or b"")


def _cut(letter: DeadLetter, room: int) -> DeadLetter:
    """Key first, then the sender's headers up to half of what is left, then the value."""
    if letter.key is not None and len(letter.key) > room // 8:
        key = letter.key[: room // 8]
        letter = replace(letter, key=key, origin_key=key)
    room -= _size(letter.bridge_headers) + len(letter.key or b"")
    fit: list[Header] = []
    left = room // 2
    for header in letter.sent_headers:
        left -= _size((header,))
        if left < 0:
            break
        fit.append(header)
    room -= _size(fit)
    value = letter.value or b""
    return replace(
        letter,
        sent_headers=tuple(fit),
        value=None if letter.value is None else value[: max(room, 0)],
        sha256=hashlib.sha256(value).hexdigest(),
        size=len(value),
        headers_dropped=(len(letter.sent_headers) - len(fit)) or None,
    )


def _size(headers: Iterable[Header]) -> int:
    return sum(len(name.encode()) + len(value or b"") + _PER_HEADER for name, value in headers)
