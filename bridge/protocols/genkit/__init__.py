"""Genkit behind the protocol interface: ends of agent turns in, one whole `resume` out.

`read` takes what a source's settings say about its tools; all that `build` needs of them stands
in the run since it opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from bridge.core.model import Entry, Interrupted, JsonText, Limits, Native, Run
from bridge.protocols.genkit.build import build
from bridge.protocols.genkit.event import NAME
from bridge.protocols.genkit.options import NO_OPTIONS, Options, read_options
from bridge.protocols.genkit.read import read
from bridge.protocols.interface import Reading, Record


@dataclass(frozen=True, slots=True)
class Genkit:
    """Agents of Genkit for Go, JavaScript and Python, with state at the server or the client."""

    name: ClassVar[str] = NAME
    options: Options = NO_OPTIONS

    def configured(self, options: Mapping[str, object]) -> Genkit:
        return Genkit(read_options(options))

    def read(self, record: Record, source: str, limits: Limits) -> Reading:
        return read(record, source, limits, self.options)

    def complete(self, event: Interrupted, run: Run | None, carry: JsonText | None) -> Interrupted:
        return event  # an interrupted turn says all it has to say

    def build(self, run: Run, entries: Sequence[Entry], carry: JsonText | None) -> Native:
        return build(run, entries)
