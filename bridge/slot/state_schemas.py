"""Avro schemas of the state topic's values.

Private: they may change with STATE_FORMAT, while the published records may not. A restore reads
the fields in front; what only a decision needs is one field of bytes, the model in msgpack: Avro
in Python takes ten times as long for it, and that was a quarter of a cycle's cost.
"""

from __future__ import annotations

from typing import Any, Final

from fastavro import parse_schema

STATE_FORMAT: Final = 1
"""Raised by one with every change to a schema here, or to what a body holds."""

RUN_PEEK_SIZE: Final = 21
PARKED_PEEK_SIZE: Final = 12
CARRY_PEEK_SIZE: Final = 8


def _record(name: str, **fields: object) -> Any:
    # The format stands in the name, so that a body of another format has another fingerprint
    return parse_schema(
        {
            "type": "record",
            "name": f"{name}{STATE_FORMAT}",
            "fields": [{"name": field, "type": kind} for field, kind in fields.items()],
        }
    )


def _fixed(name: str, size: int) -> object:
    return {"type": "fixed", "name": name, "size": size}


# `peek` and `approval_ids` stand first at a fixed offset: a restore slices them out undecoded.
RUN: Final = _record(
    "Run",
    peek=_fixed("RunPeek", RUN_PEEK_SIZE),
    approval_ids="bytes",
    source="string",
    body="bytes",
)
PARKED: Final = _record("Parked", peek=_fixed("ParkedPeek", PARKED_PEEK_SIZE), body="bytes")
# `size` is that of the body before it was packed; 0 where it stands as it is.
CARRY: Final = _record(
    "Carry", peek=_fixed("CarryPeek", CARRY_PEEK_SIZE), size="long", body="bytes"
)
POSITION: Final = _record("Position", offset="long")
BIRTH: Final = _record(
    "Birth",
    deployment="string",
    app_id="string",
    slots="long",
    reroute="string",
    claim="string",
)
META: Final = _record(
    "Meta",
    format="long",
    partitions_seen={"type": "map", "values": "long"},
)
