"""What reading one event costs where nobody is asked, which is nearly always."""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from bridge.core.model import Limits, Origin
from bridge.core.record import Record
from bridge.protocols import PROTOCOLS
from tests.bench import mix
from tests.bench.figure import Figure, Options, Pair, Report, alternate, compared, ratios, spread
from tests.bench.pending import NOW_MS
from tests.bench.traffic import QUIET, RARE
from tests.bench.traffic.sample import Sample

MOST = 1.0
_EACH = 20_000  # readings of a mix in one run
_OF_A_KIND = 4_000


def run(options: Options) -> Report:
    """Each protocol's mix as a whole, then each kind of event by itself, then those that ask."""
    rows: list[tuple[str, str]] = []
    reached = True
    with _without_collector():
        for protocol, samples in QUIET.items():
            pairs = _pairs(protocol, samples, options.pairs, options.count(_EACH))
            rows += compared(f"{protocol}, its mix of {len(samples)}", pairs, "µs", 2, _SIDES)
            reached = reached and statistics.median(ratios(pairs)) <= MOST
        for protocol, samples in QUIET.items():
            for one in _one_of_each((*samples, *RARE[protocol])):
                pairs = _pairs(protocol, (one,), options.pairs, options.count(_OF_A_KIND))
                rows.append((f"{protocol}: {one.kind}, {len(one.value):,} bytes", _row(pairs)))
    return Report(tuple(rows), reached=reached)


_SIDES = ("ours", "json.loads")


def _row(pairs: Sequence[Pair]) -> str:
    return f"{spread(ratios(pairs), '×')}, {spread((ours for ours, _ in pairs), 'µs')}"


def _one_of_each(samples: Sequence[Sample]) -> Iterator[Sample]:
    yield from {one.kind: one for one in samples}.values()


def _pairs(protocol: str, samples: Sequence[Sample], pairs: int, many: int) -> list[Pair]:
    """Microseconds of processor time per event of the reader and of json.loads, by turns."""
    reader, limits = PROTOCOLS[protocol], Limits()
    values = [one.value for one in samples]
    records = [Record(value, b"thread-1", (), Origin("events", 0, 1, NOW_MS)) for value in values]
    rounds = max(1, many // len(samples))
    return alternate(
        pairs,
        partial(_time, lambda record: reader.read(record, mix.SOURCE, limits), records, rounds),
        partial(_time, json.loads, values, rounds),
    )


def _time(call: Callable[[Any], object], given: Sequence[Any], rounds: int) -> float:
    for one in given:
        call(one)
    began = time.process_time()
    for _ in range(rounds):
        for one in given:
            call(one)
    return 1e6 * (time.process_time() - began) / (rounds * len(given))


@contextmanager
def _without_collector() -> Iterator[None]:
    """As timeit has it: a collection of the cyclic collector would fall to either by chance."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


FIGURE = Figure(
    "readers",
    "CPU per event that asks nothing, reader only, against json.loads of the same bytes: the mix "
    "of each protocol, then every kind by itself with the questions (reported)",
    "≤ 1 × for every mix",
    run,
)
