"""Records that are of no use: of any protocol, and answers."""

from __future__ import annotations

from random import Random

ANY: tuple[bytes | None, ...] = (
    b"{not json",
    None,
    b"",
    b"[1,2,3]",
    b"\xff\xfe\x00",
    b"[" * 1_000 + b"]" * 1_000,
)
"""What no protocol can read."""

UNFIT: tuple[str, ...] = (
    "NaN",
    '{"a":1,"a":2}',
    '"\\ud800"',
    "[" * 200 + "]" * 200,
)
"""JSON values that no question may hold: not a number, a key twice, half a character, too deep."""


def bad_key(chance: Random, thread: str) -> bytes | None:
    return chance.choice((None, thread.encode(), b"\xff\xfe"))


def bad_answer(chance: Random) -> bytes | None:
    """One of the ways in which an answer is malformed."""
    return chance.choice(
        (
            b"not json",
            b"",
            None,
            b'{"status":"resolved","payload":true}',
            b'{"approval_id":"00000000-0000-8000-8000-000000000000","status":"done"}',
            b'{"approval_id":"00000000-0000-8000-8000-000000000000","status":"resolved","x":1}',
            b'{"source":"s","thread_id":"t","status":"resolved","payload":1}',
        )
    )
