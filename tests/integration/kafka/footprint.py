"""What this process holds: memory, objects, handles, tasks."""

from __future__ import annotations

import asyncio
import gc
import os
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Footprint:
    """After a collection, so that only what somebody still holds is counted."""

    resident: int  # bytes, as the kernel counts them
    traced: int  # bytes that Python's allocator gave out since `tracing` began
    objects: int  # that the collector knows: containers, no texts
    handles: int
    tasks: int

    @classmethod
    def now(cls) -> Footprint:
        gc.collect()
        return cls(
            resident=int(Path("/proc/self/statm").read_text().split()[1])
            * os.sysconf("SC_PAGESIZE"),
            traced=tracemalloc.get_traced_memory()[0],
            objects=len(gc.get_objects()),
            handles=len(list(Path("/proc/self/fd").iterdir())),
            tasks=len(asyncio.all_tasks()),
        )


@contextmanager
def tracing() -> Iterator[None]:
    """Python's own account of its memory; it costs a program half of its speed."""
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()
