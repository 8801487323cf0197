"""What decide is given besides state and input: bounds, a source's rules, the body builder."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from bridge.core.model.effects import Entry, Native
from bridge.core.model.state import Run, RunPolicy
from bridge.core.model.words import JsonText, Millis


class Limits(Struct, frozen=True, gc=False):
    """Bounds; each has a reason code. Sizes in bytes of JSON text."""

    interrupts_per_run: int = 1_000
    thread_state_bytes: int = 900_000
    command_bytes: int = 900_000
    payload_bytes: int = 262_144
    schema_bytes: int = 16_384
    record_bytes: int = 1_000_000
    json_depth: int = 64
    id_bytes: int = 4_096  # each id of a run: every approval repeats thread and run
    text_bytes: int = 4_096  # each text of an answer or operation: comment, names, reasons
    parked_answers: int = 10_000  # per slot
    parked_bytes: int = 67_108_864  # per slot
    carry_bytes: int = 262_144


class SourcePolicy(Struct, frozen=True, gc=False):
    """A source's rules for runs that open now. Durations in milliseconds."""

    default_ttl: Millis | None = None
    max_event_age: Millis = 7 * 86_400_000
    early_answer_ttl: Millis = 15 * 60_000
    refuse_unusable_schema: bool = False
    refuse_unknown_dialect: bool = False  # of which an agent's answers are not known
    takes_untimed: bool = False  # an event that nothing places in time is one of its arrival
    run: RunPolicy = RunPolicy()


BuildNative = Callable[[Run, Sequence[Entry], JsonText | None], Native]
"""The protocol's `build`: (closed run, how its questions ended, carried context) to native body."""
