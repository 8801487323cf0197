"""Agent protocols by the name a source's configuration gives. Nothing here knows Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bridge.protocols.ag_ui import AgUi
from bridge.protocols.interface import AgentProtocol

PROTOCOLS: Mapping[str, AgentProtocol] = MappingProxyType({AgUi.name: AgUi()})
