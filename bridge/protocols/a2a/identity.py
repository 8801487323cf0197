"""Which question a status is, and where it stands in the order of its task."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from bridge.core.instants import usable_instant
from bridge.core.model import Millis, Origin
from bridge.protocols.a2a.asked import IdOf
from bridge.protocols.a2a.event import Frame, Status
from bridge.protocols.a2a.items import Message

MAX_GENERATION: Final = 2**63 - 1
_MAX_DIGITS: Final = len(str(MAX_GENERATION))


def instant_of(status: Status, origin: Origin) -> Millis:
    """When the status was made; where it does not say, when its record was."""
    at = usable_instant(status.timestamp)
    return origin.timestamp if at is None else at


def generation_of(frame: Frame) -> int:
    """Counts up from 1; 0 where the server has none. As an int64 it is written as a string."""
    written = frame.generation
    if isinstance(written, str):
        is_number = len(written) <= _MAX_DIGITS and written.isascii() and written.isdigit()
        written = int(written) if is_number else 0
    return written if written is not None and 0 < written <= MAX_GENERATION else 0


def identity_of(
    status: Status, message: Message, generation: int, origin: Origin
) -> tuple[str, IdOf]:
    """The message's id; without one, what tells this status from the task's others."""
    if message.messageId:
        return message.messageId, "message"
    if generation:
        return f"generation:{generation}", "generation"
    millis = usable_instant(status.timestamp)
    if millis is None:
        return f"record:{origin}", "record"
    try:
        whole = datetime.fromtimestamp(millis // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (OverflowError, ValueError):
        return f"record:{origin}", "record"
    # One spelling for each instant, with all its digits, whatever zone it is written in.
    fraction = re.search(r"[.,](\d+)", status.timestamp or "")
    digits = fraction[1].rstrip("0") if fraction else ""
    return f"at:{whole}{'.' if digits else ''}{digits}Z", "timestamp"
