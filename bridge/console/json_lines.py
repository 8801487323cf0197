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
    shown = []
    for char in text.decode():
        # Line ends between members are no character of a text.
        plain = char.isascii() and char != "\x7f"
        if not plain:
            plain = char.isprintable() and unicodedata.category(char) != "Cf"
        shown.append(char if plain else json.dumps(char)[1:-1])
    return "".join(shown).encode()


def write_line(text: bytes) -> None:
    """One line on stdout."""
    sys.stdout.buffer.write(escaped(text) + b"\n")
    sys.stdout.buffer.flush()
