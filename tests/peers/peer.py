"""A peer: one real agent implementation that the bridge is run with, and what is expected of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

ANSWERED: Final = "answered"
ALL_CANCELLED: Final = "all cancelled"
ONE_EXPIRED: Final = "one expired"
WRONG_THEN_RIGHT: Final = "wrong, then right"
ASKS_AGAIN: Final = "asks again"
CASES: Final = (ANSWERED, ALL_CANCELLED, ONE_EXPIRED, WRONG_THEN_RIGHT, ASKS_AGAIN)

Protocol = Literal["ag-ui", "a2a", "genkit"]
SetName = Literal["current", "earlier", "npm", "go"]


class NoSchema:
    """The type of NO_SCHEMA."""

    def __repr__(self) -> str:
        return "NO_SCHEMA"


NO_SCHEMA: Final = NoSchema()
"""Instead of a wrong payload: the peer's questions have no schema, so every payload fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """What the run must know of a peer. Its program is run as it stands, below `programs/`."""

    name: str
    """Safe in file names, as `ag-ui-langgraph`; also the name of its source and its topic."""
    title: str
    """In the table, as `LangGraph (ag-ui-langgraph)`."""
    protocol: Protocol
    set: SetName
    """The environment that its program runs in."""
    program: str
    """File below tests/peers/programs; for `go` the name of the built binary."""
    arguments: tuple[str, ...] = ()
    source: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of its [[sources]]: options, default_ttl, …"""
    answer: Any
    """The payload that resolves each question, in all cases."""
    action: str | None = None
    """The answer's action, for Genkit."""
    proof: str
    """Text that is in the result as JSON once it was answered, and is not when all is cancelled."""
    wrong: Any
    """A payload that gets `invalid_payload`; or NO_SCHEMA, and the reason in `cannot`."""
    cancelled_end: str = "finished"
    """How the agent ends when everything is cancelled: `cancelled` for A2A."""
    expired_end: str = "finished"
    """How it ends when one question is answered and one has expired."""
    elsewhere: bool = False
    """Its questions are authorizations: answers get `out_of_band`, and somebody signs in there."""
    own_deadline: bool = False
    """Its questions carry the deadline they are asked with; others get an `expire` operation."""
    cannot: Mapping[str, str] = field(default_factory=dict)
    """Case to reason, for what the peer itself cannot do, measured; footnotes of the table."""
    note: str | None = None
    """What a reader of the table must know of how it was run; a footnote at its title."""
    dead_letters: tuple[str, ...] = ()
    """Reasons of dead letters that its own events are known to get."""

    def __post_init__(self) -> None:
        unknown = set(self.cannot) - set(CASES)
        if unknown:
            raise ValueError(f"{self.name}: no such case: {', '.join(sorted(unknown))}")
        if self.wrong is NO_SCHEMA and WRONG_THEN_RIGHT not in self.cannot:
            raise ValueError(f"{self.name}: say in `cannot` why its questions have no schema")
