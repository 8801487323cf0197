"""Agent protocols by the name a source's configuration gives. Nothing here knows Kafka."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from bridge.core.model import Entry, JsonText, Native, Run
from bridge.protocols.a2a import A2a
from bridge.protocols.ag_ui import AgUi
from bridge.protocols.genkit import Genkit
from bridge.protocols.interface import AgentProtocol

PROTOCOLS: Mapping[str, AgentProtocol] = MappingProxyType(
    {AgUi.name: AgUi(), A2a.name: A2a(), Genkit.name: Genkit()}
)


def configured(name: str, options: Mapping[str, object], continuity: bool = False) -> AgentProtocol:
    """The protocol of that name as one source speaks it. Raises ValueError for what it cannot."""
    protocol = PROTOCOLS[name].configured(options)
    if not continuity:
        return protocol
    if not isinstance(protocol, AgUi):
        raise ValueError(f"continuity is for ag-ui only; take it out of this {name} source")
    return replace(protocol, continuity=True)


def build_native(run: Run, entries: Sequence[Entry], carry: JsonText | None) -> Native:
    """The native body that continues a closed run, built by the run's own protocol."""
    return PROTOCOLS[run.protocol].build(run, entries, carry)
