"""The same desk for every process that decides: one source, the rules' own defaults."""

from __future__ import annotations

from bridge.core.model import Limits, SourcePolicy
from bridge.core.schema import SchemaCache
from bridge.protocols import PROTOCOLS
from bridge.records.topics import Topics
from bridge.slot.desk import Desk, Source
from tests.bench import mix


def make_desk(topics: Topics, events: str) -> Desk:
    """Slot 0 of 1, reading that topic of events."""
    source = Source(mix.SOURCE, PROTOCOLS["ag-ui"], SourcePolicy())
    return Desk(0, 1, {events: source}, topics, Limits(), SchemaCache(1_000))
