"""Deterministic ids and the home slot of a thread.

Every id is a function of what it names, so a replay of the input gives the same ids, and any id
of this bridge shows the home slot of its thread without a look-up.
"""

from __future__ import annotations

import hashlib
import struct
from functools import lru_cache
from typing import Final, Literal, get_args

from msgspec import Struct

from bridge.core.model import ApprovalId, CommandId, ResumeRunId, Run, ThreadKey

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


_CACHED_CHARS = 1_024  # what is longer is computed anew: a cache must not hold a sender's megabytes


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


class RunKey(Struct, eq=False, gc=False):
    """The identity of a run, and the ids that are made of it, each once.

    Two of one run are one object, unless their parts are longer than a cache may hold.
    """

    thread: ThreadKey
    run_id: str
    _home: str
    _parts: bytes
    _command_id: CommandId | None = None
    _resume_run_id: ResumeRunId | None = None

    @staticmethod
    def of(thread: ThreadKey, run_id: str) -> RunKey:
        """The key of a run."""
        try:
            return _cached_key(thread, run_id)
        except _TooLong:
            return _key(thread, run_id)

    @property
    def command_id(self) -> CommandId:
        """The id of the one resume command that the run may get."""
        if self._command_id is None:
            self._command_id = CommandId(self.make("command"))
        return self._command_id

    @property
    def resume_run_id(self) -> ResumeRunId:
        """The id of the run that this command starts."""
        if self._resume_run_id is None:
            self._resume_run_id = ResumeRunId(self.make("resume-run"))
        return self._resume_run_id

    def approval_id(self, interrupt_id: str) -> ApprovalId:
        """The id under which one question of the run is published."""
        if len(interrupt_id) > _CACHED_CHARS:
            return ApprovalId(self.make("approval", interrupt_id))
        return _cached_approval_id(self, interrupt_id)

    def make(self, kind: IdKind, interrupt_id: str = "") -> str:
        """A UUIDv8 (RFC 9562): 4 bytes of thread hash, 12 of SHA-256 over the parts, each with its
        length before it.
        """
        made = hashlib.sha256(_KINDS[kind] + self._parts + _part(interrupt_id)).hexdigest()
        variant = _VARIANTS[made[8]]
        return f"{self._home}-{made[:4]}-8{made[5:8]}-{variant}{made[9:12]}-{made[12:24]}"


def key_of(run: Run) -> RunKey:
    """The key of a run as it is remembered."""
    return RunKey.of(run.thread, run.run_id)


def _part(text: str) -> bytes:
    raw = text.encode()
    return _LENGTH.pack(len(raw)) + raw


_VARIANTS: Final = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))
"""Of a hex digit the one with the same low bits and the variant's two before them."""

_KINDS: Final = {kind: _part(kind) for kind in get_args(IdKind)}


def _key(thread: ThreadKey, run_id: str) -> RunKey:
    names = (thread.source, thread.scope, thread.thread_id, run_id)
    home = f"{thread_hash(thread.thread_id):08x}"
    return RunKey(thread, run_id, home, b"".join([_part(name) for name in names]))


class _TooLong(Exception):
    """A cache must not hold a sender's megabytes."""


@lru_cache(maxsize=8_192)
def _cached_key(thread: ThreadKey, run_id: str) -> RunKey:
    if len(thread.scope) + len(thread.thread_id) + len(run_id) > _CACHED_CHARS:
        raise _TooLong
    return _key(thread, run_id)


@lru_cache(maxsize=8_192)
def _cached_approval_id(key: RunKey, interrupt_id: str) -> ApprovalId:
    return ApprovalId(key.make("approval", interrupt_id))


def id_bytes(any_id: str) -> bytes:
    """The 16 bytes of an id of this bridge; for whoever holds many."""
    return bytes.fromhex(any_id.replace("-", ""))
