"""Processor time per input of a slot, against the least that a transactional loop can do."""

from __future__ import annotations

import statistics
from functools import partial

from tests.bench.figure import Figure, Options, Report, alternate, compared, ratios
from tests.bench.lab import broker
from tests.bench.stages import cpu_per_input

MOST = 7.0
EACH = 5_000  # events, and answers: 100 transactions of 100 are counted


def against(mode: str, most: float, options: Options) -> Report:
    """The slot against the confluent-kafka loop of that mode."""
    each = options.count(EACH)
    with broker() as bootstrap:
        measured = partial(cpu_per_input, bootstrap, each=each)
        pairs = alternate(
            options.pairs,
            lambda: measured("slot_process", "slot"),
            lambda: measured("confluent_process", mode),
        )
    rows = compared("CPU per input", pairs, "µs")
    rows.append(("inputs counted", f"{2 * each:,} in transactions of 100"))
    return Report(tuple(rows), reached=statistics.median(ratios(pairs)) <= most)


FIGURE = Figure(
    "cpu_bare",
    "CPU per input record at 100 inputs per transaction, against a bare confluent-kafka "
    "transactional loop that writes one record per input",
    "≤ 7 ×",
    partial(against, "bare", MOST),
)
