"""State records as bytes: runs, early answers, carried context, positions, meta.
Births are in `birth`.

A run's value can be filed without decoding it: what a restore needs of it (next timer, open
interrupts, thread, approval ids) stands at fixed offsets in front.
"""

from __future__ import annotations

import hashlib
import struct
from binascii import unhexlify
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import msgspec
from cramjam import zstd

from bridge.core.ids import id_bytes, key_of
from bridge.core.model import Carried, Millis, Parked, Run, ThreadKey
from bridge.slot import state_schemas as schemas
from bridge.slot.single_object import HEADER_SIZE, SingleObject

STATE_FORMAT = schemas.STATE_FORMAT

RUN_PREFIX: Final = b"run/"
PARKED_PREFIX: Final = b"parked/"
CARRY_PREFIX: Final = b"carry/"
POSITION_PREFIX: Final = b"position/"
META_KEY: Final = b"meta"

RUN_PEEK: Final = struct.Struct(">qqI?")
"""At HEADER_SIZE of a run: the fields of `Peek`."""

PARKED_PEEK: Final = struct.Struct(">qI")
"""At HEADER_SIZE of parked answers: the earliest instant one of them is due, their number."""

CARRY_PEEK: Final = struct.Struct(">q")
"""At HEADER_SIZE of contexts: the earliest instant one of them is outdated."""

NO_TIMER: Final = (1 << 63) - 1

_IDS_AT = HEADER_SIZE + RUN_PEEK.size
_THREAD_AT = len(RUN_PREFIX)

# The forms that each kind can be read in, the present one first. Keep the one before it here.
_RUN = SingleObject("run", schemas.RUN)
_PARKED = SingleObject("parked answers", schemas.PARKED)
_CARRY = SingleObject("carried contexts", schemas.CARRY)
_POSITION = SingleObject("position", schemas.POSITION)
_META = SingleObject("meta", schemas.META)

# Of 20 kB of messages a third is left, at 50 µs; zlib takes three times as long for no less.
_PACK_LEVEL: Final = 1
_PACKED_FROM: Final = 512

_body = msgspec.msgpack.Encoder().encode
_run_of = msgspec.msgpack.Decoder(Run).decode
_carry_of = msgspec.msgpack.Decoder(tuple[Carried, ...]).decode
_parked_of = msgspec.msgpack.Decoder(tuple[Parked, ...]).decode


@dataclass(frozen=True, slots=True)
class Meta:
    """What a slot has seen: of each input topic, how many partitions it had when it was last
    looked at. Those that come later are read from their beginning.
    """

    format: int = STATE_FORMAT
    partitions_seen: Mapping[str, int] = field(default_factory=dict)


Peek = tuple[Millis, Millis, int, bool]
"""What is read of an encoded run without decoding it: when time alone would change it (NO_TIMER
for never), since when it is as it is (published, or closed), its open interrupts, and whether it
was resumed and nobody was seen to continue it.
"""


# --- Keys -------------------------------------------------------------------------------------


def run_key(run: Run) -> bytes:
    """`run/<thread digest>/<command id>`, both in hex.

    A run has one command at most, so its id names the run; the digest lets a tombstone be filed
    under its thread without an index of commands.
    """
    command = key_of(run).command_id.replace("-", "")
    return RUN_PREFIX + f"{thread_digest(run.thread).hex()}/{command}".encode()


def thread_of_key(key: bytes) -> bytes:
    """The thread digest, 16 bytes, of a run's key."""
    return unhexlify(key[_THREAD_AT : _THREAD_AT + 32])


def command_of_key(key: bytes) -> bytes:
    """The command id, 16 bytes, of a run's key."""
    return unhexlify(key[_THREAD_AT + 33 :])


def command_bytes(run: Run) -> bytes:
    """The run's command id as 16 bytes."""
    return id_bytes(key_of(run).command_id)


def parked_key(approval: bytes) -> bytes:
    """`parked/<approval id in hex>`; the id is 16 bytes."""
    return PARKED_PREFIX + approval.hex().encode()


def carry_key(thread: bytes) -> bytes:
    """`carry/<thread digest in hex>`; the digest is 16 bytes."""
    return CARRY_PREFIX + thread.hex().encode()


def position_key(topic: str, partition: int) -> bytes:
    """`position/<topic>/<partition>`; a topic's name never holds a slash."""
    return POSITION_PREFIX + f"{topic}/{partition}".encode()


def read_position_key(key: bytes) -> tuple[str, int]:
    """Topic and partition of a position's key."""
    topic, _, partition = key[len(POSITION_PREFIX) :].decode().rpartition("/")
    return topic, int(partition)


def thread_digest(thread: ThreadKey) -> bytes:
    """16 bytes that stand for (source, scope, thread id) wherever threads are looked up."""
    if len(thread.thread_id) + len(thread.scope) > _CACHED_CHARS:
        return _digest(thread)
    return _cached_digest(thread)


def _digest(thread: ThreadKey) -> bytes:
    sha = hashlib.sha256()
    for part in (thread.source, thread.scope, thread.thread_id):
        raw = part.encode()
        sha.update(len(raw).to_bytes(4, "big") + raw)
    return sha.digest()[:16]


_CACHED_CHARS = 1_024  # a cache must not keep a sender's megabytes
_cached_digest = lru_cache(maxsize=8_192)(_digest)


# --- Runs -------------------------------------------------------------------------------------


def encode_run(run: Run, next_timer: Millis | None) -> bytes:
    """The value of a run; `next_timer` is when time alone would change it."""
    timer = NO_TIMER if next_timer is None else min(next_timer, NO_TIMER)
    unconfirmed = run.outcome == "resumed" and not run.confirmed
    since = run.published_at if run.closed_at is None else run.closed_at
    peek = RUN_PEEK.pack(timer, since, open_interrupts(run), unconfirmed)
    return _RUN.write(
        {
            "peek": peek,
            "approval_ids": approval_ids_of(run),
            "source": run.thread.source,
            "body": _body(run),
        }
    )


def decode_run(value: bytes) -> Run:
    """The run as it was encoded. Raises StateFormatNewer."""
    return _run_of(_RUN.read(value)["body"])


def open_interrupts(run: Run) -> int:
    """How many of the run's interrupts wait for an answer; none once the run is closed."""
    if not run.is_open:
        return 0
    return sum(item.status == "pending" for item in run.items)


def approval_ids_of(run: Run) -> bytes:
    """The 16-byte approval ids of the run's items, one after the other."""
    approval_id = key_of(run).approval_id
    return b"".join([id_bytes(approval_id(item.question.interrupt_id)) for item in run.items])


def peek_run(value: bytes) -> Peek:
    """What a restore files an encoded run by. Raises StateFormatNewer."""
    if value[:HEADER_SIZE] != _RUN.header:
        raise _RUN.unreadable(value)
    return RUN_PEEK.unpack_from(value, HEADER_SIZE)


def file_marks(value: bytes) -> tuple[Millis, int, bool, bytes, bytes]:
    """All that a restore files an encoded run by, in one pass; it does so for every record.

    Due, open interrupts, unconfirmed, approval ids and source: as `peek_run`, `peek_approvals` and
    `peek_source` say one by one. Raises StateFormatNewer.
    """
    due, _, waiting, unconfirmed = peek_run(value)
    size, start = _length_at(value, _IDS_AT)
    end = start + size
    length, at = _length_at(value, end)
    return due, waiting, unconfirmed, value[start:end], value[at : at + length]


def peek_approvals(value: bytes) -> bytes:
    """The 16-byte approval ids of an encoded run, one after the other."""
    size, start = _length_at(value, _IDS_AT)
    return value[start : start + size]


def peek_source(value: bytes) -> bytes:
    """The source of an encoded run, in UTF-8."""
    size, start = _length_at(value, _IDS_AT)
    size, start = _length_at(value, start + size)
    return value[start : start + size]


def _length_at(value: bytes, at: int) -> tuple[int, int]:
    """An Avro length (zigzag varint, never negative here) and where its bytes begin."""
    byte = value[at]
    if byte < 0x80:
        return byte >> 1, at + 1
    number, shift = byte & 0x7F, 7
    while byte & 0x80:
        at += 1
        byte = value[at]
        number |= (byte & 0x7F) << shift
        shift += 7
    return number >> 1, at + 1


# --- Early answers, context, positions, meta ----------------------------------------------------


def encode_parked(parked: tuple[Parked, ...]) -> bytes:
    """All early answers under one approval id, at least one."""
    peek = PARKED_PEEK.pack(min(early.until for early in parked), len(parked))
    return _PARKED.write({"peek": peek, "body": _body(parked)})


def decode_parked(value: bytes) -> tuple[Parked, ...]:
    """The early answers in order of arrival. Raises StateFormatNewer."""
    return _parked_of(_PARKED.read(value)["body"])


def peek_parked(value: bytes) -> tuple[Millis, int]:
    """(earliest instant one is due, how many) of encoded early answers. Raises StateFormatNewer."""
    if not value.startswith(_PARKED.header):
        raise _PARKED.unreadable(value)
    until, number = PARKED_PEEK.unpack_from(value, HEADER_SIZE)
    return until, number


def encode_carry(carry: tuple[Carried, ...]) -> bytes:
    """All contexts that runs of one thread left, at least one."""
    body = _body(carry)
    size = len(body) if len(body) >= _PACKED_FROM else 0
    until = min(context.until for context in carry)
    packed = bytes(zstd.compress(body, _PACK_LEVEL)) if size else body
    return _CARRY.write({"peek": CARRY_PEEK.pack(until), "size": size, "body": packed})


def decode_carry(value: bytes) -> tuple[Carried, ...]:
    """The contexts in order of arrival. Raises StateFormatNewer."""
    form = _CARRY.read(value)
    body = form["body"]
    if form["size"]:
        body = bytes(zstd.decompress(body, output_len=form["size"]))
    return _carry_of(body)


def carry_until(value: bytes) -> Millis:
    """When the first of encoded contexts is outdated. Raises StateFormatNewer."""
    if not value.startswith(_CARRY.header):
        raise _CARRY.unreadable(value)
    until: Millis = CARRY_PEEK.unpack_from(value, HEADER_SIZE)[0]
    return until


def encode_position(offset: int) -> bytes:
    """The offset of the next record to read."""
    return _POSITION.write({"offset": offset})


def decode_position(value: bytes) -> int:
    """The offset of the next record to read. Raises StateFormatNewer."""
    offset: int = _POSITION.read(value)["offset"]
    return offset


def encode_meta(meta: Meta) -> bytes:
    """What the slot has seen."""
    return _META.write(
        {
            "format": meta.format,
            "partitions_seen": dict(meta.partitions_seen),
        }
    )


def decode_meta(value: bytes) -> Meta:
    """What the slot had seen. Raises StateFormatNewer."""
    return Meta(**_META.read(value))
