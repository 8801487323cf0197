"""Dead letters: a record that could not be used, unchanged, with why and whence in headers.

What does not fit into one record is cut, never refused: a dead letter must always be writable.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from bridge.core.model import Limits, Refusal
from bridge.core.record import Header, Record
from bridge.records.outgoing import Outgoing
from bridge.records.reroute import ORIGIN_KEY, origin_headers

_DETAIL_MAX = 1_000
_PER_HEADER = 10  # two length varints of a record header
_PER_RECORD = 512  # batch and record framing, and the headers that say what was cut


def dead_letter(record: Record, refusal: Refusal, source: str, limits: Limits) -> Outgoing:
    """The record for dead-letters: key, value and headers as they came where they fit.

    A record over `limits.record_bytes` keeps the first part of its value, with `bridge-sha256`
    and `bridge-size` (bytes) of the whole value; `bridge-headers-dropped` counts the headers of
    the sender that had to go.
    """
    record = record.as_it_came
    ours = (*origin_headers(record), *_why(refusal, source))
    room = limits.record_bytes - _PER_RECORD - _size(ours)
    if record_size(record) <= room:
        return Outgoing("dead-letters", record.key, record.value, (*record.headers, *ours))
    return _cut(record, ours, limits.record_bytes - _PER_RECORD)


def record_size(record: Record) -> int:
    """Bytes of value, key and headers as they came, uncompressed; framing of headers is counted."""
    record = record.as_it_came
    return _size(record.headers) + len(record.key or b"") + len(record.value or b"")


def _why(refusal: Refusal, source: str) -> tuple[Header, ...]:
    detail = refusal.pointer or refusal.detail
    return (
        ("bridge-reason", refusal.reason.encode()),
        ("bridge-detail", detail[:_DETAIL_MAX].encode()),
        ("bridge-source", source.encode()),
    )


def _cut(record: Record, ours: tuple[Header, ...], room: int) -> Outgoing:
    """Key first, then the sender's headers up to half of what is left, then the value."""
    key = record.key
    if key is not None and len(key) > room // 8:
        key = key[: room // 8]
        ours = tuple((name, key if name == ORIGIN_KEY else value) for name, value in ours)
    room -= _size(ours) + len(key or b"")
    kept = _first_headers(record.headers, room // 2)
    room -= _size(kept)
    value = record.value or b""
    told: tuple[Header, ...] = (
        ("bridge-sha256", hashlib.sha256(value).hexdigest().encode()),
        ("bridge-size", b"%d" % len(value)),
    )
    dropped = len(record.headers) - len(kept)
    if dropped:
        told += (("bridge-headers-dropped", b"%d" % dropped),)
    first_part = None if record.value is None else value[: max(room, 0)]
    return Outgoing("dead-letters", key, first_part, (*kept, *ours, *told))


def _first_headers(headers: Iterable[Header], room: int) -> tuple[Header, ...]:
    kept: list[Header] = []
    for header in headers:
        room -= _size((header,))
        if room < 0:
            break
        kept.append(header)
    return tuple(kept)


def _size(headers: Iterable[Header]) -> int:
    return sum(len(name.encode()) + len(value or b"") + _PER_HEADER for name, value in headers)
