"""How fast a slot reads its state back."""

from __future__ import annotations

import statistics
from typing import Any

from tests.bench.child import Child
from tests.bench.figure import Figure, Options, Report, spread
from tests.bench.lab import Topics, broker, make_topics
from tests.bench.pending import TRANSACTION, fill

LEAST = 200_000.0
RECORDS = 400_000


def run(options: Options) -> Report:
    """One log, restored by as many fresh processes as there would be pairs, after one unmeasured
    (it fills the broker's page cache)."""
    records = options.count(RECORDS)
    with broker() as bootstrap:
        topics = make_topics(bootstrap, 1)
        size = fill(topics, records)
        taken = [_once(topics, records) for _ in range(options.pairs + 1)][1:]
    rates = [one["records"] / one["seconds"] for one in taken]
    cpu = (1e6 * one["cpu"] / one["records"] for one in taken)
    rows = (
        ("records per second", spread(rates, digits=0)),
        ("CPU per record", spread(cpu, "µs")),
        ("log", f"{records:,} runs of {size} bytes, {TRANSACTION} in a transaction, zstd"),
    )
    return Report(rows, reached=statistics.median(rates) >= LEAST)


def _once(topics: Topics, records: int) -> dict[str, Any]:
    job = {"bootstrap": topics.bootstrap, "topic": topics["state"]}
    with Child("restore_process", job) as child:
        told = child.told()
    if told["pending"] != records:
        raise RuntimeError(f"{told['pending']} of {records} runs were restored")
    return told


FIGURE = Figure(
    "restore",
    "restore of run records with one interrupt (350–400 bytes): starting the consumers, reading "
    "and folding, wall time",
    "≥ 200,000/s",
    run,
)
