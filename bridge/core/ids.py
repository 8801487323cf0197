"""Deterministic ids and the home slot of a thread.

Every id is a function of what it names, so a replay of the input gives the same ids, and any id
of this bridge tells the home slot of its thread without a look-up.
"""

from __future__ import annotations

import hashlib
import struct
from functools import lru_cache
from typing import Literal

IdKind = Literal["approval", "command", "resume-run"]

_MASK32 = 0xFFFFFFFF
_M = 0x5BD1E995
_WORDS = struct.Struct("<I")
_LENGTH = struct.Struct(">I")


def murmur2(data: bytes) -> int:
    """Kafka's murmur2 (seed 0x9747b28c) as an unsigned 32-bit integer."""
    length = len(data)
    h = 0x9747B28C ^ length
    body = length & ~3
    for (word,) in _WORDS.iter_unpack(data[:body]):
        k = word * _M & _MASK32
        k = (k ^ k >> 24) * _M & _MASK32
        h = (h * _M & _MASK32) ^ k
    if length > body:
        h = (h ^ int.from_bytes(data[body:], "little")) * _M & _MASK32
    h = (h ^ h >> 13) * _M & _MASK32
    return h ^ h >> 15


_CACHED_CHARS = 1_024  # what is longer is computed anew: a cache must not keep a sender's megabytes


def thread_hash(thread_id: str) -> int:
    """murmur2 of the thread id; cached because a thread's event and answers come close together."""
    if len(thread_id) > _CACHED_CHARS:
        return murmur2(thread_id.encode())
    return _cached_hash(thread_id)


@lru_cache(maxsize=65_536)
def _cached_hash(thread_id: str) -> int:
    return murmur2(thread_id.encode())


def home_slot(thread_id: str, slots: int) -> int:
    """The slot that owns the thread: where Kafka's default partitioner puts its key."""
    return (thread_hash(thread_id) & 0x7FFFFFFF) % slots


def home_of_id(any_id: str, slots: int) -> int:
    """The home slot of the thread that an approval, command or resume-run id was made for."""
    return (int(any_id[:8], 16) & 0x7FFFFFFF) % slots


def make_id(
    kind: IdKind, source: str, scope: str, thread_id: str, run_id: str, interrupt_id: str = ""
) -> str:
    """A UUIDv8 (RFC 9562): 4 bytes of thread hash, 12 of SHA-256 over the length-prefixed parts.

    Cached, because a question's ids are wanted again with each of its records.
    """
    if len(scope) + len(thread_id) + len(run_id) + len(interrupt_id) > _CACHED_CHARS:
        return _make_id(kind, source, scope, thread_id, run_id, interrupt_id)
    return _cached_id(kind, source, scope, thread_id, run_id, interrupt_id)


def _make_id(
    kind: IdKind, source: str, scope: str, thread_id: str, run_id: str, interrupt_id: str
) -> str:
    text = b""
    for part in (kind, source, scope, thread_id, run_id, interrupt_id):
        raw = part.encode()
        text += _LENGTH.pack(len(raw)) + raw
    raw16 = bytearray(_LENGTH.pack(thread_hash(thread_id)) + hashlib.sha256(text).digest()[:12])
    raw16[6] = raw16[6] & 0x0F | 0x80
    raw16[8] = raw16[8] & 0x3F | 0x80
    hexed = raw16.hex()
    return f"{hexed[:8]}-{hexed[8:12]}-{hexed[12:16]}-{hexed[16:20]}-{hexed[20:]}"


_cached_id = lru_cache(maxsize=8_192)(_make_id)


def id_bytes(any_id: str) -> bytes:
    """The 16 bytes of an id of this bridge; for whoever keeps many."""
    return bytes.fromhex(any_id.replace("-", ""))
