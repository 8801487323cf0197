"""Processor time per input of a slot, against confluent-kafka around the same decisions."""

from __future__ import annotations

from functools import partial

from tests.bench.figure import Figure
from tests.bench.figures.cpu_bare import against

MOST = 2.5

FIGURE = Figure(
    "cpu_decide",
    "CPU per input record at 100 inputs per transaction, against confluent-kafka with our own "
    "decoding and deciding and the same outputs in its loop",
    "≤ 2.5 ×",
    partial(against, "decide", MOST),
)
