"""The seam between the bridge and an agent protocol: native bytes to core inputs, and back.

A protocol never sees state, clock or Kafka: it is given one record and says what it means, or is
given one closed run and says what an executor has to send.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bridge.core.model import Counted, Input, JsonText, Limits, Native, Refusal, Run
from bridge.core.record import Record

__all__ = ["AgentProtocol", "Reading", "Record"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a record means: inputs in order, or why it becomes none, and what was worth counting.

    No inputs and no refusal: the record was read past. Inputs may concern several threads; each
    home applies those of its own.
    """

    inputs: tuple[Input, ...] = ()
    refusal: Refusal | None = None
    counts: tuple[Counted, ...] = ()


class AgentProtocol(Protocol):
    """One agent protocol. Both methods are pure; `read` refuses by value and never raises."""

    @property
    def name(self) -> str:
        """The word for this protocol in configuration and in every record."""

    def read(self, record: Record, source: str, limits: Limits) -> Reading:
        """What one record of a run-finished topic means to the threads of `source`."""

    def build(self, run: Run, carry: JsonText | None) -> Native:
        """The body that continues `run`, whose items all have their final status and answers.

        `carry` is the context this protocol's own `Carry` inputs kept for the thread, if any.
        """
