"""A2A behind the protocol interface: task events in, SendMessage or CancelTask out.

Reads 1.0 and 0.3 in all bindings. `Options` says what a source's configuration may set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from bridge.core.model import Entry, Interrupted, JsonText, Limits, Native, Run
from bridge.protocols.a2a.build import build
from bridge.protocols.a2a.complete import complete
from bridge.protocols.a2a.event import NAME
from bridge.protocols.a2a.options import NO_OPTIONS, Options, read_options
from bridge.protocols.a2a.read import read
from bridge.protocols.interface import Reading, Record


@dataclass(frozen=True, slots=True)
class A2a:
    """A2A 1.0 and 0.3 as released, and what agents on the way between them send."""

    name: ClassVar[str] = NAME
    options: Options = NO_OPTIONS

    def configured(self, options: Mapping[str, object]) -> A2a:
        return A2a(read_options(options))

    def read(self, record: Record, source: str, limits: Limits) -> Reading:
        return read(record, source, limits, self.options)

    def complete(self, event: Interrupted, run: Run | None, carry: JsonText | None) -> Interrupted:
        return complete(event, run, carry)

    def build(self, run: Run, entries: Sequence[Entry], carry: JsonText | None) -> Native:
        return build(run, entries)  # what the answer needs stands in the run since it opened
