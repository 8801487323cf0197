"""A real worker process, as an operator would start it, on the topics of a run."""

from __future__ import annotations

import asyncio
import json
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench import mix
from tests.bench.lab import Topics
from tests.chaos.workers import Worker, write_config


@contextmanager
def workers(topics: Topics, count: int = 1) -> Iterator[list[Worker]]:
    """So many workers, started and ready one after the other; killed at the end of the block.

    Timers are let go at once after a takeover, so that a short run sees the steady state.
    """
    with tempfile.TemporaryDirectory(prefix="bridge-bench-") as name:
        directory = Path(name)
        config = write_config(
            directory / "bridge.toml",
            topics.bootstrap,
            topics.own,
            {mix.SOURCE: topics.events},
            partitions=topics.partitions,
            app_id=topics["state"],
            sections={
                "worker": {"takeover_grace": "1s", "session_timeout": "6s"},
                "log": {"level": "info"},
            },
        )
        started = [Worker(f"worker-{n}", config, directory) for n in range(count)]
        try:
            for worker in started:
                worker.start()
                asyncio.run(worker.ready())
            yield started
        finally:
            for worker in started:
                worker.kill()


def slots(worker: Worker) -> dict[int, str]:
    """The slots that a worker holds, and the state of each."""
    with urllib.request.urlopen(f"{worker.url()}/readyz", timeout=5) as reply:
        told = json.load(reply)
    return {int(number): state for number, state in told["slots"].items()}


def all_serve(worker: Worker, expected: int) -> bool:
    """Whether it holds so many slots and every one is restored and has caught up."""
    try:
        states = slots(worker)
    except OSError:  # 503 while a slot opens
        return False
    return len(states) == expected and set(states.values()) == {"serving"}
