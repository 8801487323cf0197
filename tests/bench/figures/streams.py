"""The bridge against the same job as a Kafka Streams application, under the same load."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from tests.bench import peer
from tests.bench.figure import Figure, Options, Report, compared, ratios
from tests.bench.lab import broker, make_topics
from tests.bench.worker import workers

PARTITIONS = 4
EVENTS = "agents.run-finished"  # the name that the load generator knows
FAST, SLOW = 2_000, 500  # cycles a second
SECONDS = 6  # of each load
MOST_CPU, MOST_LATENCY = 1.0, 0.3
LOAD_S = 180.0

_NUMBERS = re.compile(
    r"RESULT cycles (\d+)/(\d+) in .* CPU (\d+) us/cycle"
    r"  event->approval p50 ([\d.]+) p99 ([\d.]+) ms  answer->command p50 ([\d.]+) p99 ([\d.]+) ms"
)
_LATENCIES = (
    "event→approval p50",
    "event→approval p99",
    "answer→command p50",
    "answer→command p99",
)

Measured = dict[str, float]
Served = AbstractContextManager[tuple[str, int]]


def run(options: Options) -> Report:
    """Each on a fresh broker of its own: warmed at the high rate, then measured at both."""
    try:
        built = peer.build()
    except peer.PeerMissing as missing:
        return Report((), skipped=str(missing))
    kept: list[tuple[Measured, Measured]] = []

    def both() -> None:
        """One pair; the order changes from pair to pair."""
        order = [("ours", _bridge), ("theirs", lambda: _peer(built))]
        if len(kept) % 2:
            order.reverse()
        taken = {name: _measure(built, serve, options) for name, serve in order}
        kept.append((taken["ours"], taken["theirs"]))

    for _ in range(options.pairs):
        both()
    return _report(kept)


def _report(kept: list[tuple[Measured, Measured]]) -> Report:
    rows, reached = [], True
    for what in (f"CPU per cycle at {FAST:,}/s", *_LATENCIES):
        pairs = [(ours[what], theirs[what]) for ours, theirs in kept]
        unit, most = ("µs", MOST_CPU) if what.startswith("CPU") else ("ms", MOST_LATENCY)
        label = what if what.startswith("CPU") else f"{what} at {SLOW}/s"
        rows.extend(compared(label, pairs, unit))
        reached = reached and statistics.median(ratios(pairs)) <= most
    return Report(tuple(rows), reached=reached)


def _measure(built: peer.Peer, serve: Callable[[], Served], options: Options) -> Measured:
    with serve() as (target, pid):
        bootstrap, _, prefix = target.partition("/")

        def load(rate: int) -> tuple[float, ...]:
            return _load(built, bootstrap, prefix, pid, rate, options.count(SECONDS * rate))

        load(FAST)
        cpu = load(FAST)[0]
        latencies = load(SLOW)[1:]
    return {f"CPU per cycle at {FAST:,}/s": cpu, **dict(zip(_LATENCIES, latencies, strict=True))}


def _load(
    built: peer.Peer, bootstrap: str, prefix: str, pid: int, rate: int, cycles: int
) -> tuple[float, ...]:
    """CPU per cycle in µs, then the four latencies in ms."""
    command = [sys.executable, str(built.load), bootstrap, prefix, str(pid), str(cycles), str(rate)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LOAD_S)
    found = _NUMBERS.search(done.stdout)
    if found is None or found[1] != found[2]:
        raise RuntimeError(f"the load did not come through: {(done.stdout + done.stderr)[-500:]}")
    return tuple(float(number) for number in found.groups()[2:])


@contextmanager
def _bridge() -> Iterator[tuple[str, int]]:
    with broker(fresh=True) as bootstrap:
        topics = make_topics(bootstrap, PARTITIONS, prefix="bridge.", events=EVENTS)
        with workers(topics) as (worker,):
            yield f"{bootstrap}/bridge.", worker.pid


@contextmanager
def _peer(built: peer.Peer) -> Iterator[tuple[str, int]]:
    with broker(fresh=True) as bootstrap:
        make_topics(bootstrap, PARTITIONS, prefix="p.", events=EVENTS)
        with peer.running(built, bootstrap) as pid:
            yield f"{bootstrap}/p.", pid


FIGURE = Figure(
    "streams",
    "against a Kafka Streams application (exactly_once_v2) that does the core of the job: CPU per "
    f"cycle at {FAST:,}/s, p50 and p99 of both latencies at {SLOW}/s",
    "CPU ≤ 1 ×, latencies ≤ 0.3 ×",
    run,
)
