"""AUTH_REQUIRED as a question: where to go, and nothing to answer.

What somebody does there never passes through the bridge, and nothing like a credential that the
agent wrote into its request is published with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bridge.core import json_text
from bridge.core.model import JsonText, Question
from bridge.protocols import slices
from bridge.protocols.a2a.asked import NO_WORDS, AskedItem, encode
from bridge.protocols.a2a.credentials import text_without
from bridge.protocols.a2a.items import Item, Message
from bridge.protocols.fields import spelling

_URL = re.compile(r"https?://[^\s<>\"'`\])}]+")
# The nearest to what somebody has to open first. An `authorizationUrl` is mostly the endpoint of an
# OAuth scheme, without the request that an `authUri` beside it makes of it.
_NAMES = (
    *("authuri", "authurl", "authorizationuri", "authorizeuri", "authorizeurl"),
    *("verificationuricomplete", "loginuri", "loginurl", "authorizationurl"),
    *("verificationuri", "verificationurl", "requesturi", "url"),
)
_RANK = {name: rank for rank, name in enumerate(_NAMES)}


def authorization(
    question_id: str,
    message: Message,
    words: str | None,
    items: tuple[Item, ...],
    metadata: dict[str, JsonText],
) -> Question:
    """One question for the whole status: giving it up cancels the task at once.

    The address is the first in the text, else the one in the member that is the likeliest to hold
    one. Members are in any order: an SDK that keeps them in a map writes them as they fall.
    """
    raws = [bytes(raw) for raw in (*(message.parts or message.content or ()), message.metadata)]
    inside = [json_text.value(raw) for raw in raws if raw]
    likeliest = [text for _, text in sorted(_named(inside), key=lambda found: found[0])]
    addresses = [match[0] for text in (words or "", *likeliest) if (match := _URL.search(text))]
    clean = [address for address in addresses if text_without(address) == address]
    return Question(
        interrupt_id=question_id,
        kind="authorization",
        reason=text_without(items[0].name) if items and items[0].name else None,
        message=text_without(words or NO_WORDS["authorization"]),
        metadata=slices.object_of(metadata) if metadata else None,
        authorize_at=clean[0].rstrip(".,;:!?") if clean else None,
        native=encode(AskedItem(items[0].shape if items else "plain")),
    )


def _named(value: Any) -> Iterator[tuple[int, str]]:
    """Texts of members that are called like an address, each with the rank of its name."""
    for name, member in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(member, dict | list):
            yield from _named(member)
        elif isinstance(member, str) and (rank := _RANK.get(spelling(str(name)))) is not None:
            yield rank, member
