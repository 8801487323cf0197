"""Inputs as other people's systems write them, and where they are found."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

_WRITTEN = datetime(2026, 11, 30, 8, 15, tzinfo=UTC)  # what their instants are near to
_INSTANT = re.compile(rb"2026-11-30T\d\d:\d\d:\d\d(?:\.\d+)?")


def path_of(name: str) -> Path:
    """A file of the folder `field`. Skips the test where the vectors are missing."""
    root = Path(os.environ.get("BRIDGE_VECTORS") or Path(__file__).parents[2] / "shared/vectors")
    path = root / "field" / name
    if not path.is_file():
        pytest.skip(f"no vectors at {path}; set BRIDGE_VECTORS to their folder")
    return path


def value(name: str, now: datetime | None = None) -> bytes:
    """The bytes of one record, its instants moved to just before `now` where that is given."""
    found = path_of(name).read_bytes()
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
