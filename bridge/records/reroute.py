"""Records on their one hop home, and the origin headers that reroute and dead letters share.

The bridge's headers are appended behind the sender's own, so the last ones of a name are ours:
whatever a sender writes under these names is carried along and never believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bridge.core.model import Origin
from bridge.core.record import Header, Record
from bridge.errors import RerouteNotHome, skip_command
from bridge.records.outgoing import Outgoing

ORIGIN_TOPIC = "bridge-origin-topic"
ORIGIN_PARTITION = "bridge-origin-partition"
ORIGIN_OFFSET = "bridge-origin-offset"
ORIGIN_TIMESTAMP = "bridge-origin-timestamp"
ORIGIN_KEY = "bridge-origin-key"

_BOUND: Final = 2**63


def reroute_record(record: Record, home: int, thread_id: str | None = None) -> Outgoing:
    """The record as it came, for partition `home` of reroute; its origin is in the headers.

    Keyed by the thread where it is known; else by the record's own key.
    """
    return Outgoing(
        topic="reroute",
        key=record.key if thread_id is None else thread_id.encode(),
        value=record.value,
        headers=(*record.headers, *origin_headers(record)),
        partition=home,
    )


def origin_headers(record: Record) -> tuple[Header, ...]:
    """Where the record stood, in headers; no key header means its key was null."""
    origin = record.origin
    where = (
        (ORIGIN_TOPIC, origin.topic.encode()),
        (ORIGIN_PARTITION, b"%d" % origin.partition),
        (ORIGIN_OFFSET, b"%d" % origin.offset),
        (ORIGIN_TIMESTAMP, b"%d" % origin.timestamp),
    )
    return where if record.key is None else (*where, (ORIGIN_KEY, record.key))


def original(record: Record) -> Record:
    """A record of reroute as it stood at its origin: key, headers and position.

    Only for records read from reroute, which nobody but the bridge may write. Raises
    RerouteNotHome when the bridge's headers are missing or cannot be read.
    """
    names = [name for name, _ in record.headers]
    if ORIGIN_TOPIC not in names:
        raise _foreign(record)
    start = len(names) - 1 - names[::-1].index(ORIGIN_TOPIC)
    ours = dict(record.headers[start:])
    return Record(
        value=record.value,
        key=ours.get(ORIGIN_KEY),
        headers=tuple(record.headers[:start]),
        origin=_origin(record, ours),
        hop=record.origin,
    )


def misrouted(record: Record, slot: int, home: int) -> RerouteNotHome:
    """What stops a slot that is given a record of another home, by way of reroute."""
    hop = record.hop or record.origin
    return RerouteNotHome(
        f"{hop}, from {record.origin}, was rerouted to slot {slot} and is at home in {home}: was "
        f"topics.partitions changed? Set it back. {_give_up(hop)}"
    )


def _origin(record: Record, ours: Mapping[str, bytes | None]) -> Origin:
    topic = ours[ORIGIN_TOPIC]
    try:
        if topic is None:
            raise ValueError
        return Origin(
            topic=topic.decode(),
            partition=_number(ours[ORIGIN_PARTITION]),
            offset=_number(ours[ORIGIN_OFFSET]),
            timestamp=_number(ours[ORIGIN_TIMESTAMP], least=-_BOUND),
        )
    except (KeyError, ValueError):
        raise _foreign(record) from None


def _number(text: bytes | None, least: int = 0) -> int:
    """A number as the bridge writes it, within 64 bits. Raises ValueError.

    A timestamp may be below 0: brokers take any from producers, and -1 where they have none.
    """
    number = int(text or b"")
    if not least <= number < _BOUND:
        raise ValueError
    return number


def _foreign(record: Record) -> RerouteNotHome:
    return RerouteNotHome(
        f"{record.origin} has no readable bridge-origin headers: something other than the bridge "
        f"writes to the reroute topic; take its write permission away. {_give_up(record.origin)}"
    )


def _give_up(hop: Origin) -> str:
    """A partition of reroute is read by the slot of its number."""
    command = skip_command(hop.partition, hop.topic, hop.partition, hop.offset + 1)
    return f"To go on without the record: {command}"
