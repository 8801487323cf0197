"""Which agent an event is of: on a thread that several share, part of a question's identity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from bridge.core.record import Record
from bridge.protocols.ag_ui.options import Options
from bridge.protocols.event import loosely
from bridge.protocols.slices import members_of

HEADER: Final = "ag-ui-agent"


def agent_of(value: bytes, record: Record, options: Options, seen: set[str]) -> str:
    """The agent's name; empty where nothing says it."""
    if options.agent:
        return options.agent
    header = next((value for name, value in record.headers if name == HEADER and value), b"")
    try:
        if header or not options.agent_pointer:
            return header.decode()
    except UnicodeDecodeError:
        seen.add("agent_no_text")
        if not options.agent_pointer:
            return ""
    member = _member(value, options.agent_pointer)
    if member is None or isinstance(member, str):
        return member or ""
    seen.add("agent_no_text")
    return ""


def _member(value: bytes, tokens: Sequence[str]) -> Any:
    """The member that the tokens lead to, through objects only; None where there is none.

    By slices, since what lies beside it may be a long conversation.
    """
    try:
        for token in tokens:
            value = members_of(value).get(token, b"")
        return msgspec.json.decode(value) if value else None
    except (msgspec.DecodeError, RecursionError):
        holder = loosely(value)  # text that only a standard parser reads
        for token in tokens:
            holder = holder.get(token) if isinstance(holder, dict) else None
        return holder
