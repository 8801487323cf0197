"""How many full cycles one worker process gets through."""

from __future__ import annotations

import statistics

from tests.bench.figure import Figure, Options, Report, spread
from tests.bench.generator import Driven, Generator, Load
from tests.bench.lab import broker, make_topics
from tests.bench.worker import workers

SLOTS = 4
LEAST = 2_000.0
CYCLES = 20_000


def run(options: Options) -> Report:
    """As many runs as there would be pairs, each on topics and a worker of its own."""
    load = Load(cycles=options.count(CYCLES), warm=options.count(CYCLES // 4))
    with broker() as bootstrap:
        driven = [_once(bootstrap, load) for _ in range(options.pairs)]
    speeds = [one.per_second for one in driven]
    rows = (
        ("cycles per second", spread(speeds, digits=0)),
        ("CPU of the worker per cycle", spread((one.cpu_per_cycle for one in driven), "µs", 0)),
        ("cycles counted", f"{load.cycles:,} after {load.warm:,}, {load.window:,} under way"),
    )
    return Report(rows, reached=statistics.median(speeds) >= LEAST)


def _once(bootstrap: str, load: Load) -> Driven:
    topics = make_topics(bootstrap, SLOTS)
    with workers(topics) as (worker,):
        return Generator(topics, worker.pid, load).run()


FIGURE = Figure(
    "cycles",
    "full cycles (event → approval → answer → resume), one worker, 4 slots, the machine shared "
    "with the broker and the load generator",
    "≥ 2,000/s",
    run,
)
