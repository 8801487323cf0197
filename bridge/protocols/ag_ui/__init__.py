"""AG-UI behind the protocol interface: run-finished events in, `RunAgentInput` out.

`read` and `build` share nothing but the protocol; each has its module here.
"""

from __future__ import annotations

from typing import Final

from bridge.core.model import JsonText, Limits, Native, Run
from bridge.protocols.ag_ui.build import build
from bridge.protocols.ag_ui.event import NAME
from bridge.protocols.ag_ui.read import read
from bridge.protocols.interface import Reading, Record


class AgUi:
    """AG-UI 1.0 as released, and what its 0.x producers still send."""

    name: Final = NAME

    def read(self, record: Record, source: str, limits: Limits) -> Reading:
        return read(record, source, limits)

    def build(self, run: Run, carry: JsonText | None) -> Native:
        return build(run, carry)
