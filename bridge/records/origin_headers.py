"""The headers that say where a record stood before the bridge moved it: `bridge-origin-*`.

They are appended behind the sender's own headers, so the last ones of a name are ours: whatever a
sender writes under these names is carried along and never believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bridge.core.model import Origin
from bridge.core.record import Header

TOPIC: Final = "bridge-origin-topic"
PARTITION: Final = "bridge-origin-partition"
OFFSET: Final = "bridge-origin-offset"
TIMESTAMP: Final = "bridge-origin-timestamp"
KEY: Final = "bridge-origin-key"

_BOUND: Final = 2**63


def origin_headers(origin: Origin, key: bytes | None) -> tuple[Header, ...]:
    """Where the record stood; no key header means its key was null."""
    where = (
        (TOPIC, origin.topic.encode()),
        (PARTITION, b"%d" % origin.partition),
        (OFFSET, b"%d" % origin.offset),
        (TIMESTAMP, b"%d" % origin.timestamp),
    )
    return where if key is None else (*where, (KEY, key))


def parted(headers: Sequence[Header]) -> tuple[tuple[Header, ...], Mapping[str, bytes]] | None:
    """The sender's headers, and ours behind them by name; None where there are none of ours."""
    names = [name for name, _ in headers]
    if TOPIC not in names:
        return None
    start = len(names) - 1 - names[::-1].index(TOPIC)
    return tuple(headers[:start]), dict(headers[start:])


def origin_in(ours: Mapping[str, bytes]) -> Origin:
    """The origin that our headers name. Raises ValueError where one is missing or unreadable."""
    try:
        return Origin(
            topic=ours[TOPIC].decode(),
            partition=_number(ours[PARTITION]),
            offset=_number(ours[OFFSET]),
            timestamp=_number(ours[TIMESTAMP], least=-_BOUND),
        )
    except (KeyError, AttributeError, TypeError) as error:
        raise ValueError("no origin") from error


def _number(text: bytes, least: int = 0) -> int:
    """A number as the bridge writes it, within 64 bits. Raises ValueError.

    A timestamp may be below 0: brokers take any from producers, and -1 where they have none.
    """
    number = int(text)
    if not least <= number < _BOUND:
        raise ValueError
    return number
