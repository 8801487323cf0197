"""A profile of a measured process, for whoever looks for what dominates.

Off unless BENCH_PROFILE names a file; times under a profiler are no figures.
"""

from __future__ import annotations

import cProfile
import io
import os
import pstats
import time
from collections.abc import Iterator
from contextlib import contextmanager

LINES = 40


@contextmanager
def profiled() -> Iterator[None]:
    """Profile the block into BENCH_PROFILE; the last block of a process wins."""
    path = os.environ.get("BENCH_PROFILE")
    if not path:
        yield
        return
    # Processor time: on a busy machine wall time would blame whoever was interrupted
    profile = cProfile.Profile(time.process_time)
    with profile:
        yield
    profile.dump_stats(path)


def top(profile: cProfile.Profile, lines: int = LINES) -> str:
    """The functions that take most time themselves, as text."""
    out = io.StringIO()
    pstats.Stats(profile, stream=out).strip_dirs().sort_stats("tottime").print_stats(lines)
    return out.getvalue()
