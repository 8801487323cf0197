"""What every cycle of a slot is decided with: sources, rules, limits, and what an input is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bridge.core.model import Limits, SourcePolicy
from bridge.core.record import Kind, Record
from bridge.core.rules import Rules
from bridge.core.schema import SchemaCache
from bridge.errors import InputUnknown
from bridge.protocols import build_native
from bridge.protocols.framing import Pointer
from bridge.protocols.interface import AgentProtocol
from bridge.records.encoding import Encoding
from bridge.records.json_encoding import JSON
from bridge.records.reroute import unknown_source
from bridge.records.topics import Topics


@dataclass(frozen=True, slots=True)
class Source:
    """A configured source of run-finished events, ready to read and to decide by."""

    name: str
    protocol: AgentProtocol
    policy: SourcePolicy
    event_pointer: Pointer = ()  # where its events stand in their records


class Desk:
    """What every cycle of a slot is decided with; built once, never changed."""

    def __init__(
        self,
        slot: int,
        slots: int,
        sources: Mapping[str, Source],
        topics: Topics,
        limits: Limits,
        schemas: SchemaCache,
        encoding: Encoding = JSON,
    ) -> None:
        """`sources` by topic name; `topics` gives the names of the bridge's own by role."""
        self.encoding = encoding
        self.slot = slot
        self.slots = slots
        self.sources = sources
        self.reroute = topics["reroute"]
        self._named = {source.name: source for source in sources.values()}
        self._kinds: dict[str, Kind] = {
            topics["answers"]: "answer",
            topics["operations"]: "operation",
            **dict.fromkeys(sources, "event"),
        }
        self.limits = limits
        self._schemas = schemas
        self._rules = {
            (name, room): self._make_rules(policy, room)
            for name, policy in [("", _unnamed(sources.values()))]
            + [(source.name, source.policy) for source in sources.values()]
            for room in (True, False)
        }

    def knows(self, source: str) -> bool:
        """Whether a source of that name is configured."""
        return (source, True) in self._rules

    def kind(self, record: Record) -> Kind:
        """What a record is: what its hop says, whatever topics are called here, else its topic.

        Raises InputUnknown for a topic that the settings do not name.
        """
        if record.hop is not None:
            return record.hop.kind
        kind = self._kinds.get(record.origin.topic)
        if kind is None:
            raise InputUnknown(f"{record.origin} stands on no topic that the settings name.")
        return kind

    def source(self, record: Record) -> Source:
        """The source of an event. Raises SourceNotConfigured where only its sender knew it."""
        if record.hop is None:
            return self.sources[record.origin.topic]
        source = self._named.get(record.hop.source)
        if source is None:
            raise unknown_source(record, record.hop)
        return source

    def rules(self, source: str, parked_room: bool) -> Rules:
        """The rules of a source; a name nobody configured has the defaults."""
        found = self._rules.get((source, parked_room))
        return found or self._rules["", parked_room]

    def _make_rules(self, policy: SourcePolicy, room: bool) -> Rules:
        return Rules(
            policy=policy,
            limits=self.limits,
            build=build_native,
            schemas=self._schemas,
            parked_room=room,
        )


def _unnamed(sources: Iterable[Source]) -> SourcePolicy:
    """For early answers that name an approval id only: as patient as the most patient source."""
    patience = [source.policy.early_answer_ttl for source in sources]
    return SourcePolicy(early_answer_ttl=max(patience)) if patience else SourcePolicy()
