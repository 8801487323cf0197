"""The published id scheme, written a second time from its description."""

from __future__ import annotations

from hashlib import sha256
from struct import pack
from uuid import UUID


def make_id(kind: str, source: str, scope: str, thread: str, run: str, interrupt: str = "") -> str:
    """UUIDv8: the thread's murmur2, then SHA-256 over the length-prefixed parts."""
    parts = [part.encode() for part in (kind, source, scope, thread, run, interrupt)]
    digest = sha256(b"".join(pack(">I", len(part)) + part for part in parts)).digest()
    number = int.from_bytes(pack(">I", murmur2(thread.encode())) + digest[:12], "big")
    number = number & ~(0xF << 76) | 8 << 76  # version
    number = number & ~(3 << 62) | 2 << 62  # variant
    return str(UUID(int=number))


def home(thread: str, slots: int) -> int:
    """The partition where Kafka's default partitioner puts the thread's key."""
    return (murmur2(thread.encode()) & 0x7FFFFFFF) % slots


def home_of_id(approval_id: str, slots: int) -> int | None:
    """The same, out of an id; None where the text is no UUID."""
    try:
        return (UUID(approval_id).int >> 96 & 0x7FFFFFFF) % slots
    except ValueError:
        return None


def murmur2(data: bytes) -> int:
    """As org.apache.kafka.common.utils.Utils.murmur2, unsigned."""
    m, mask, length = 0x5BD1E995, 0xFFFFFFFF, len(data)
    h = (0x9747B28C ^ length) & mask
    for start in range(0, length - length % 4, 4):
        k = (int.from_bytes(data[start : start + 4], "little") * m) & mask
        h = ((h * m) & mask) ^ (((k ^ (k >> 24)) * m) & mask)
    for place in reversed(range(length % 4)):
        h ^= data[length - length % 4 + place] << (8 * place)
        if place == 0:
            h = (h * m) & mask
    h = ((h ^ (h >> 13)) * m) & mask
    return h ^ (h >> 15)
