"""Records on their one hop home.

A hop says what it is: whoever sends it home knows by its own settings, and the settings of the
worker at home may name other topics by then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from bridge.core.model import Origin
from bridge.core.record import Hop, Kind, Record
from bridge.errors import InputUnknown, RerouteNotHome, SourceNotConfigured, skip_command
from bridge.records.origin_headers import KEY, origin_headers, origin_in, parted
from bridge.records.outgoing import Outgoing

HOP = "bridge-hop"
HOP_SOURCE = "bridge-hop-source"

_KINDS: Final[Mapping[bytes, Kind]] = {kind.encode(): kind for kind in get_args(Kind)}


def reroute_record(
    record: Record, home: int, kind: Kind, source: str = "", thread_id: str | None = None
) -> Outgoing:
    """The record as it came, for partition `home` of reroute.

    The headers say where it stood, what it is and, of an event, of which source. Keyed by the
    thread where it is known; else by the record's own key.
    """
    record = record.as_it_came
    ours = (*origin_headers(record.origin, record.key), (HOP, kind.encode()))
    return Outgoing(
        topic="reroute",
        key=record.key if thread_id is None else thread_id.encode(),
        value=record.value,
        headers=(*record.headers, *ours, *([(HOP_SOURCE, source.encode())] if source else [])),
        partition=home,
    )


def original(record: Record) -> Record:
    """A record of reroute as it stood at its origin: key, headers and position.

    Only for records read from reroute, which nobody but the bridge may write. Raises
    RerouteNotHome when the bridge's headers are missing or cannot be read, and InputUnknown for a
    kind of hop that this release does not know.
    """
    found = parted(record.headers)
    if found is None:
        raise _foreign(record)
    theirs, ours = found
    try:
        origin = origin_in(ours)
    except ValueError:
        raise _foreign(record) from None
    return Record(
        value=record.value,
        key=ours.get(KEY),
        headers=theirs,
        origin=origin,
        hop=_hop(record, ours),
    )


def misrouted(record: Record, slot: int, home: int) -> RerouteNotHome:
    """What stops a slot that is given a record of another home, by way of reroute."""
    hop = record.origin if record.hop is None else record.hop.at
    return RerouteNotHome(
        f"{hop}, from {record.origin}, was rerouted to slot {slot} and is at home in {home}: was "
        f"topics.partitions changed? Set it back. {_give_up(hop)}"
    )


def unknown_source(record: Record, hop: Hop) -> SourceNotConfigured:
    """What stops a slot that is given an event of a source which only other workers know."""
    return SourceNotConfigured(
        f"sources: {hop.source} is not configured here, and {hop.at}, from {record.origin}, is an "
        "event of it that another worker sent home. Configure it as the others do, and all goes "
        f"on from there. {_give_up(hop.at)}"
    )


def _hop(record: Record, ours: Mapping[str, bytes]) -> Hop:
    try:
        said, source = ours[HOP] or b"", (ours.get(HOP_SOURCE) or b"").decode()
    except (KeyError, ValueError):
        raise _foreign(record) from None
    kind = _KINDS.get(said)
    if kind is None:
        raise InputUnknown(
            f"{record.origin} is on its way home and of a kind that this release does not know: a "
            f"worker of a later release sent it. Upgrade this one. {_give_up(record.origin)}"
        )
    if (kind == "event") == (not source):
        raise _foreign(record)
    return Hop(record.origin, kind, source)


def _foreign(record: Record) -> RerouteNotHome:
    return RerouteNotHome(
        f"{record.origin} has no readable headers of a hop: something other than the bridge "
        f"writes to the reroute topic; take its write permission away. {_give_up(record.origin)}"
    )


def _give_up(hop: Origin) -> str:
    """A partition of reroute is read by the slot of its number."""
    command = skip_command(hop.partition, hop.topic, hop.partition, hop.offset + 1)
    return f"To go on without the record: {command}"
