"""AG-UI behind the protocol interface: run-finished events in, `RunAgentInput` out.

`read` and `build` share nothing but the protocol; each has its module here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from bridge.core.model import Entry, Interrupted, JsonText, Limits, Native, Run
from bridge.protocols.ag_ui import continuity
from bridge.protocols.ag_ui.build import build
from bridge.protocols.ag_ui.event import NAME
from bridge.protocols.ag_ui.options import NO_OPTIONS, Options, read_options
from bridge.protocols.ag_ui.read import read
from bridge.protocols.interface import Reading, Record


@dataclass(frozen=True, slots=True)
class AgUi:
    """AG-UI 1.0 as released, and what its 0.x producers still send.

    With `continuity` the context of a run is kept, for agents that keep none themselves.
    """

    name: ClassVar[str] = NAME
    continuity: bool = False
    options: Options = NO_OPTIONS

    def configured(self, options: Mapping[str, object]) -> AgUi:
        return replace(self, options=read_options(options))

    def read(self, record: Record, source: str, limits: Limits) -> Reading:
        reader = continuity.read if self.continuity else read
        return reader(record, source, limits, self.options)

    def complete(self, event: Interrupted, run: Run | None, carry: JsonText | None) -> Interrupted:
        return event  # a RUN_FINISHED event says all it has to say

    def build(self, run: Run, entries: Sequence[Entry], carry: JsonText | None) -> Native:
        return build(run, entries, carry)
