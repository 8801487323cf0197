"""JSON that may be looked at: what a terminal obeys or hides is written as an escape."""

from __future__ import annotations

import json
import sys
import unicodedata


def escaped(text: bytes) -> bytes:
    """JSON text with controls, bidirectional marks, zero-width and tag characters as escapes.

    Outside its strings JSON has ASCII only, so every program reads the same values.
    """
    if text.isascii() and b"\x7f" not in text:
        return text
    return "".join(_shown(char) for char in text.decode()).encode()


def write_line(text: bytes) -> None:
    """One line on stdout."""
    sys.stdout.buffer.write(escaped(text) + b"\n")
    sys.stdout.buffer.flush()


def _shown(char: str) -> str:
    if char.isascii() and char != "\x7f":  # line ends between members are no character of a text
        return char
    if char.isprintable() and unicodedata.category(char) != "Cf":
        return char
    return json.dumps(char)[1:-1]
