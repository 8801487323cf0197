"""Whose words a status message is in: the conventions that are read here, and signs of others.

A dialect that nobody reads passes for one plain question, and its agent may take no answer to that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bridge.protocols.a2a import adk, items, kagent
from bridge.protocols.a2a.items import Item, Message, Part

UNKNOWN: Final = "unknown_dialect"

# What asks for a credential is an authorization, under whichever state.
_CREDENTIALS: Final = frozenset(
    {
        f"{items.EXTENSIONS}/auth/oauth/v1",
        f"{items.EXTENSIONS}/auth/secrets/v1",
        "https://github.com/a2aproject/experimental-ext-oid4vp-auth/tree/main/v1",
    }
)
_READ: Final = frozenset({kagent.URI, items.APPROVAL_URI, items.FORM_URI, *_CREDENTIALS})
# The parts that ADK marks; only its calls that run long are questions.
_ADK_TYPES: Final = frozenset(
    {b'"function_call"', b'"function_response"', b'"code_execution_result"', b'"executable_code"'}
)
_NO_MARKS: Final = frozenset({"mime", "media", "content"})


def items_of(message: Message, parts: Sequence[Part]) -> tuple[Item, ...]:
    """The items that a status message names; empty where it is one plain question."""
    for found in (
        kagent.items_of(message),
        adk.calls_of(parts),
        items.of_parts(parts),
        items.of_metadata(message),
    ):
        named = tuple(found)
        if named:
            return named
    return ()


def asks_for_credential(message: Message, named: Sequence[Item]) -> bool:
    """Whether a status asks for a credential, by names that mean nothing else."""
    has_uri = bool(_CREDENTIALS.intersection(items.extensions_under(message.metadata)))
    return has_uri or any(map(adk.asks_for_credential, named))


def seems_unknown(message: Message, parts: Sequence[Part]) -> bool:
    """Whether a message without items has marks of a convention that is not read here."""
    listed = set(message.extensions or ())
    if listed - _READ:
        return True
    marks = (mark for part in parts for mark in adk.marks_of(part).items())
    if any(prefix not in _NO_MARKS and kind not in _ADK_TYPES for prefix, kind in marks):
        return True
    # Of a known extension, but none of its requests that are known.
    return kagent.URI in listed and kagent.URI in items.extensions_under(message.metadata)
