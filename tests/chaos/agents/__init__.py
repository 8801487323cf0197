"""Agents of each protocol as the load plays them: how they ask, and what else they write."""

from collections.abc import Mapping

from tests.chaos.agents.a2a import A2A
from tests.chaos.agents.ag_ui import AG_UI
from tests.chaos.agents.ag_ui_desks import DESKS
from tests.chaos.agents.genkit import GENKIT
from tests.chaos.agents.play import Agent

AGENTS: Mapping[str, Agent] = {agent.source.name: agent for agent in (AG_UI, A2A, GENKIT, DESKS)}
"""By the name of their source; each has input topics of its own."""
