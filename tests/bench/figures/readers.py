"""What reading one event costs where nobody is asked, which is nearly always; and the look for
frames that every record gets before it."""

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
from bridge.protocols.framing import bare
from tests.bench import mix
from tests.bench.figure import Figure, Options, Pair, Report, alternate, compared, ratios, spread
from tests.bench.pending import NOW_MS
from tests.bench.traffic import QUIET, RARE
from tests.bench.traffic.sample import Sample

MOST = 1.0
_EACH = 20_000  # readings of a mix in one run
_OF_A_KIND = 4_000


def run(options: Options) -> Report:
    """Each protocol's mix as a whole, read and looked over for frames; then each kind of event by
    itself, with those that ask; then what stands in a frame.
    """
    rows: list[tuple[str, str]] = []
    reached = True
    with _without_collector():
        for protocol, samples in QUIET.items():
            many = options.count(_EACH)
            pairs = _pairs(_reader(protocol), samples, options.pairs, many)
            rows += compared(f"{protocol}, its mix of {len(samples)}", pairs, "µs", 2, _SIDES)
            reached = reached and statistics.median(ratios(pairs)) <= MOST
            framing = _row(_pairs(bare, samples, options.pairs, many))
            rows.append((f"{protocol}, the same mix looked over for frames", framing))
        for protocol, samples in QUIET.items():
            for one in _one_of_each((*samples, *RARE[protocol])):
                many = options.count(_OF_A_KIND)
                pairs = _pairs(_reader(protocol), (one,), options.pairs, many)
                rows.append((f"{protocol}: {one.kind}, {len(one.value):,} bytes", _row(pairs)))
        framed = Sample("in a CloudEvent", _CLOUD_EVENT % RARE["ag-ui"][-1].value)
        pairs = _pairs(bare, (framed,), options.pairs, options.count(_OF_A_KIND))
        rows.append((f"taken out of a CloudEvent, {len(framed.value):,} bytes", _row(pairs)))
    return Report(tuple(rows), reached=reached)


_SIDES = ("ours", "json.loads")
_CLOUD_EVENT = b'{"specversion":"1.0","id":"1","source":"/agents","type":"run.finished","data":%b}'


def _row(pairs: Sequence[Pair]) -> str:
    return f"{spread(ratios(pairs), '×')}, {spread((ours for ours, _ in pairs), 'µs')}"


def _one_of_each(samples: Sequence[Sample]) -> Iterator[Sample]:
    yield from {one.kind: one for one in samples}.values()


def _reader(protocol: str) -> Callable[[Record], object]:
    reader, limits = PROTOCOLS[protocol], Limits()
    return lambda record: reader.read(record, mix.SOURCE, limits)


def _pairs(
    call: Callable[[Record], object], samples: Sequence[Sample], pairs: int, many: int
) -> list[Pair]:
    """Microseconds of processor time per record of a call and of json.loads, by turns."""
    values = [one.value for one in samples]
    records = [Record(value, b"thread-1", (), Origin("events", 0, 1, NOW_MS)) for value in values]
    rounds = max(1, many // len(samples))
    return alternate(
        pairs,
        partial(_time, call, records, rounds),
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
    "of each protocol and its look for frames (reported), then every kind by itself with the "
    "questions (reported)",
    "≤ 1 × for every mix",
    run,
)
