"""What `decide` is given besides state and input: the source's policy, bounds and services.

Everything in it is a value or a pure function; nothing here may reach for I/O or a clock.
"""

from __future__ import annotations

from msgspec import Struct

from bridge.core.model import BuildNative, Limits, SourcePolicy
from bridge.core.schema import SchemaCache


class Rules(Struct, frozen=True, gc=False):
    """One source's rules. `parked_room` says whether the slot may keep one more early answer."""

    policy: SourcePolicy
    limits: Limits
    build: BuildNative
    schemas: SchemaCache
    parked_room: bool = True
