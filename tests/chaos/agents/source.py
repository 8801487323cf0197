"""A source of run-finished events: its name in every id, and what its settings say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bridge.audit.ids import make_id
from bridge.audit.log import Source as CheckedSource

EARLY_ANSWER_TTL = 30_000  # ms; an early answer whose event was lost gets its verdict in time too


@dataclass(frozen=True, slots=True)
class Source:
    """`default_ttl` in milliseconds, for protocols whose questions bring no deadline."""

    name: str
    protocol: str
    scope: str = ""
    default_ttl: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def settings(self, topic: str) -> dict[str, Any]:
        """Its table in a settings file."""
        table: dict[str, Any] = {"name": self.name, "protocol": self.protocol, "topic": topic}
        if self.default_ttl is not None:
            table["default_ttl"] = f"{self.default_ttl}ms"
        return table | ({"options": dict(self.options)} if self.options else {})

    def checked(self) -> CheckedSource:
        """What the checker has to know of it."""
        return CheckedSource(self.name, self.protocol, self.options)

    def id_of(self, kind: str, thread: str, run: str, interrupt: str = "") -> str:
        """The id that the published scheme gives."""
        return make_id(kind, self.name, self.scope, thread, run, interrupt)
