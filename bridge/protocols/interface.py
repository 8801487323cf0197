"""The seam between the bridge and an agent protocol: native bytes to core inputs, and back.

A protocol never sees state, clock or Kafka: it is given one record and says what it means, or is
given one closed run and says what an executor has to send.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from bridge.core.model import (
    Counted,
    Entry,
    Input,
    Interrupted,
    JsonText,
    Limits,
    Native,
    Refusal,
    Run,
)
from bridge.core.record import Record

__all__ = ["AgentProtocol", "Reading", "Record"]


class Reading(Struct, frozen=True, gc=False):
    """What a record means: inputs in order, or why it becomes none, and what was worth counting.

    No inputs and no refusal: the record was read past. Inputs may concern several threads; each
    home applies those of its own. Beside a refusal they only say what is no longer known.
    """

    inputs: tuple[Input, ...] = ()
    refusal: Refusal | None = None
    counts: tuple[Counted, ...] = ()


class AgentProtocol(Protocol):
    """One agent protocol, as one source speaks it. All methods are pure."""

    @property
    def name(self) -> str:
        """The word for this protocol in configuration and in every record."""

    def configured(self, options: Mapping[str, object]) -> AgentProtocol:
        """This protocol with a source's own settings. Raises ValueError for what it cannot use."""

    def read(self, record: Record, source: str, limits: Limits) -> Reading:
        """What one record of a run-finished topic means to the threads of `source`.

        Refuses by value and never raises.
        """

    def complete(self, event: Interrupted, run: Run | None, carry: JsonText | None) -> Interrupted:
        """The event with what its record left out: what its thread holds decides.

        `run` is the thread's open run, else its newest; `carry` the context of no run. A protocol
        whose status repeats without its items, or follows an artifact that has them, finds them.
        """

    def build(self, run: Run, entries: Sequence[Entry], carry: JsonText | None) -> Native:
        """The body that continues `run`, whose questions ended as `entries` say, in its order.

        `carry` is the context this protocol's own `Keep` inputs kept for the run, if any.
        What a source's settings contribute has to stand in `run.native` since the run opened.
        """
