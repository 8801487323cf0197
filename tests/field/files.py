"""The files that were collected in the field, besides what is built here."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from tests import vectors

_WRITTEN = datetime(2026, 11, 30, 8, 15, tzinfo=UTC)  # what their instants are near to
_INSTANT = re.compile(rb"2026-11-30T\d\d:\d\d:\d\d(?:\.\d+)?")


def at_hand() -> bool:
    """Whether there are any."""
    return vectors.collected("field") is not None


def value(name: str, now: datetime | None = None) -> bytes:
    """The bytes of one record, its instants moved to just before `now` where that is given."""
    path = vectors.collected(f"field/{name}")
    assert path is not None, name
    found = path.read_bytes()
    if now is None:
        return found
    away = now - timedelta(minutes=1) - _WRITTEN
    return _INSTANT.sub(lambda match: _moved(match[0], away), found)


def lines(name: str, now: datetime | None = None) -> list[bytes]:
    """The records of a file with one a line."""
    return value(name, now).splitlines()


def document(name: str) -> Any:
    """A file that describes several records."""
    return json.loads(value(name))


def _moved(instant: bytes, away: timedelta) -> bytes:
    moved = datetime.fromisoformat(instant.decode()) + away
    return moved.isoformat(timespec="milliseconds" if b"." in instant else "seconds").encode()
