"""What is typed, as values: ids, spans, instants, counts. Each refusal says what to type."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID

from bridge.core.durations import parse_duration


def uuid(text: str) -> UUID:
    """An approval's id."""
    try:
        return UUID(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            "not an approval id; `interrupt-bridge pending` lists them"
        ) from None


def duration(text: str) -> float:
    """Seconds of a span such as `30s`."""
    try:
        return parse_duration(text) / 1_000
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def target(text: str) -> Literal["earliest", "latest"] | int:
    """An end of a log, or an offset."""
    if text == "earliest":
        return "earliest"
    if text == "latest":
        return "latest"
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("earliest, latest or an offset")
    return int(text)


def start(text: str) -> Literal["earliest", "latest"] | int:
    """An end of a log, or an instant in milliseconds."""
    if text == "earliest":
        return "earliest"
    if text == "latest":
        return "latest"
    try:
        return round(datetime.fromisoformat(text).astimezone(UTC).timestamp() * 1_000)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text} is none of earliest, latest and 2026-11-30T12:00:00Z"
        ) from None


def since(text: str) -> timedelta | int:
    """A span back, or an instant in milliseconds."""
    try:
        return timedelta(milliseconds=parse_duration(text))
    except ValueError:
        pass
    try:
        return round(datetime.fromisoformat(text).astimezone(UTC).timestamp() * 1_000)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text} is neither a span such as 12h nor an instant such as 2026-11-30T12:00:00Z"
        ) from None


def number(text: str) -> int:
    """A whole number, 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("a whole number, 0 or more")
    return int(text)


def count(text: str) -> int:
    """A whole number, 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("a whole number, 1 or more")
    return int(text)
