"""AG-UI behind the protocol interface: run-finished events in, `RunAgentInput` out.

Reading lives in ag_ui_read, building in ag_ui_build; they share nothing but the protocol.
"""

from __future__ import annotations

from typing import Final

from bridge.core.model import JsonText, Limits, Native, Run
from bridge.protocols import ag_ui_build, ag_ui_read
from bridge.protocols.interface import Reading, Record


class AgUi:
    """AG-UI 1.0 as released, and what its 0.x producers still send."""

    name: Final = ag_ui_read.NAME

    def read(self, record: Record, source: str, limits: Limits) -> Reading:
        return ag_ui_read.read(record, source, limits)

    def build(self, run: Run, carry: JsonText | None) -> Native:
        return ag_ui_build.build(run, carry)
