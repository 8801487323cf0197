"""Whether a cycle costs more when much is pending."""

from __future__ import annotations

import statistics

from tests.bench.figure import Figure, Options, Report, alternate, compared, ratios
from tests.bench.generator import Generator, Load
from tests.bench.lab import broker, make_topics
from tests.bench.pending import fill
from tests.bench.worker import workers

SLOTS = 4
FEW, MANY = 1_000, 100_000
WITHIN = 0.10
CYCLES = 10_000
RATE = 500.0  # cycles a second: the same transactions, however long one takes


def run(options: Options) -> Report:
    """Both at the same rate, so that both share their transactions among as many inputs."""
    load = Load(cycles=options.count(CYCLES), warm=options.count(CYCLES // 5), rate=RATE)
    many = options.count(MANY)
    with broker() as bootstrap:
        pairs = alternate(
            options.pairs,
            lambda: _cost(bootstrap, many, load),
            lambda: _cost(bootstrap, FEW, load),
        )
    names = (f"{many:,} pending", f"{FEW:,} pending")
    rows = compared("CPU per cycle", pairs, "µs", 0, names)
    return Report(tuple(rows), reached=abs(statistics.median(ratios(pairs)) - 1) <= WITHIN)


def _cost(bootstrap: str, pending: int, load: Load) -> float:
    topics = make_topics(bootstrap, SLOTS)
    fill(topics, pending)
    with workers(topics) as (worker,):
        return Generator(topics, worker.pid, load).run().cpu_per_cycle


FIGURE = Figure(
    "growth",
    f"CPU per cycle with 1,000 and with 100,000 pending, both at {RATE:.0f} cycles/s",
    "within 10 %",
    run,
)
