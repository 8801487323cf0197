"""How the processor time per input of one process is taken: three stages of preloaded inputs.

The first opens runs, the second warms every path up, the third counts. Each stage answers the runs
that the stage before it opened, so an answer never meets a question that is still on its way,
however the client mixes its partitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.bench import mix
from tests.bench.child import Child
from tests.bench.lab import Keyed, Topics, load, make_topics

BATCH: Final = 100
"""Inputs per transaction."""

STAGES: Final = 3


def cpu_per_input(bootstrap: str, module: str, mode: str, each: int) -> float:
    """Microseconds of processor time per input of the last stage, of `each` events and answers.

    Counted from the end of the stage before, so that what a client fetches ahead is in it.
    """
    topics = make_topics(bootstrap, 1)
    job = {
        "mode": mode,
        "bootstrap": bootstrap,
        "topics": dict(topics.own),
        "events": topics.events,
        "batch": BATCH,
    }
    with Child(module, job) as child:
        child.told()
        done = {"cpu": 0.0, "inputs": 0, "accepted": 0}
        for stage in range(STAGES):
            load(topics, _inputs(topics, stage, each))
            child.tell({"inputs": each if stage == 0 else 2 * each})
            done = child.told()
        if done["accepted"] not in (each, -1):
            raise RuntimeError(f"{mode}: {done['accepted']} of {each} answers were accepted")
    return 1e6 * done["cpu"] / done["inputs"]


def _inputs(topics: Topics, stage: int, each: int) -> Iterator[tuple[str, Keyed]]:
    for number in range(stage * each, (stage + 1) * each):
        thread = f"thread-{number:07d}"
        yield topics.events, (thread.encode(), mix.event(thread))
        if stage > 0:
            asked = f"thread-{number - each:07d}"
            yield topics["answers"], (asked.encode(), mix.answer(asked))
