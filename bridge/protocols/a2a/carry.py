"""The items of a LangGraph task between its "Interrupt" artifact and the status that asks.

The status does not name them and the artifact has no state: only both together are the question,
and no later snapshot of the task has the artifact again.
"""

from __future__ import annotations

import msgspec

from bridge.core.model import JsonText, Origin
from bridge.protocols.a2a.items import Item


class Kept(msgspec.Struct, frozen=True):
    at: int  # the record's timestamp
    items: tuple[Item, ...]


_KEPT = msgspec.json.Decoder(Kept)


def keep(items: tuple[Item, ...], origin: Origin) -> JsonText:
    return msgspec.json.encode(Kept(origin.timestamp, items))


def kept_in(carry: JsonText | None) -> Kept | None:
    return None if carry is None else _KEPT.decode(carry)
