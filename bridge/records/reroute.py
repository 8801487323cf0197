"""Records on their one hop home, and the origin headers that reroute and dead letters share.

The bridge's headers are appended behind the sender's own, so the last ones of a name are ours:
whatever a sender writes under these names is carried along and never believed.
"""

from __future__ import annotations

from bridge.core.model import Origin
from bridge.core.record import Header, Record
from bridge.errors import RerouteNotHome
from bridge.records.outgoing import Outgoing

ORIGIN_TOPIC = "bridge-origin-topic"
ORIGIN_PARTITION = "bridge-origin-partition"
ORIGIN_OFFSET = "bridge-origin-offset"
ORIGIN_TIMESTAMP = "bridge-origin-timestamp"
ORIGIN_KEY = "bridge-origin-key"


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
    )


def _origin(record: Record, ours: dict[str, bytes]) -> Origin:
    try:
        return Origin(
            topic=ours[ORIGIN_TOPIC].decode(),
            partition=int(ours[ORIGIN_PARTITION]),
            offset=int(ours[ORIGIN_OFFSET]),
            timestamp=int(ours[ORIGIN_TIMESTAMP]),
        )
    except (KeyError, ValueError):
        raise _foreign(record) from None


def _foreign(record: Record) -> RerouteNotHome:
    return RerouteNotHome(
        f"{record.origin} has no readable bridge-origin headers: something other than the bridge "
        "writes to the reroute topic; take its write permission away, then skip the record"
    )
