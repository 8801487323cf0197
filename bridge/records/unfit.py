"""What msgspec says against a value, without what it quotes from it."""

from __future__ import annotations

import re

_PATH = re.compile(r"- at `\$\.?(.*?)`$")
_EXPECTED = re.compile(r"Expected `[^`]*`(?: of length <= \d+)?")
_MISSING = re.compile(r"missing required field `(\w+)`")


def unfit(message: str) -> tuple[str, str]:
    """Detail and JSON Pointer of a decoder's message: names of fields and types, nothing else."""
    path = _PATH.search(message)
    pointer = f"/{path[1].replace('.', '/')}" if path and path[1] else ""
    missing = _MISSING.search(message)
    if missing:
        return "required field is missing", f"{pointer}/{missing[1]}"
    expected = _EXPECTED.search(message)
    return expected[0] if expected else "value is not allowed here", pointer
