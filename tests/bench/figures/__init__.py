"""One figure a module; each has a `FIGURE` that says what is measured and against what."""

from __future__ import annotations

from collections.abc import Mapping

from tests.bench.figure import Figure
from tests.bench.figures import (
    cpu_bare,
    cpu_decide,
    cycles,
    decide,
    growth,
    idle_latency,
    memory,
    readers,
    restore,
    streams,
    takeover,
)

FIGURES: Mapping[str, Figure] = {
    figure.name: figure
    for figure in (
        cpu_bare.FIGURE,
        cpu_decide.FIGURE,
        readers.FIGURE,
        decide.FIGURE,
        cycles.FIGURE,
        streams.FIGURE,
        idle_latency.FIGURE,
        restore.FIGURE,
        memory.FIGURE,
        takeover.FIGURE,
        growth.FIGURE,
    )
}
