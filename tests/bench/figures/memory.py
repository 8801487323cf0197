"""What a pending interrupt costs in memory."""

from __future__ import annotations

import statistics
import time

from tests.bench.figure import Figure, Options, Report, spread
from tests.bench.lab import broker, make_topics
from tests.bench.pending import fill
from tests.bench.usage import resident
from tests.bench.worker import workers

FEW, MANY = 10_000, 110_000
MOST_KB = 0.8
SETTLE_S = 2.0  # the restore's last fetch is let go, and the first idle cycles are made


def run(options: Options) -> Report:
    """A fresh worker on a log of few, a fresh one on a log of many; the difference, shared out."""
    few, many = options.count(FEW), options.count(MANY)
    each, base = [], []
    with broker() as bootstrap:
        for _ in range(options.pairs):
            small, size = _resident(bootstrap, few)
            large, _ = _resident(bootstrap, many)
            each.append((large - small) / (many - few) / 1_000)
            base.append(small / 1e6)
    rows = (
        ("per pending interrupt", spread(each, "KB (1,000 bytes)")),
        (f"worker with {few:,} pending", spread(base, "MB", 1)),
        ("state record", f"{size} bytes"),
    )
    return Report(rows, reached=statistics.median(each) <= MOST_KB)


def _resident(bootstrap: str, pending: int) -> tuple[int, int]:
    topics = make_topics(bootstrap, 1)
    size = fill(topics, pending)
    with workers(topics) as (worker,):
        time.sleep(SETTLE_S)
        return resident(worker.pid), size


FIGURE = Figure(
    "memory",
    "memory per pending interrupt: RSS(110,000) − RSS(10,000) over 100,000, fresh workers after "
    "their restore, one slot",
    "≤ 0.8 KB",
    run,
)
