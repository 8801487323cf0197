"""What a decision costs without any Kafka, and what dominates the cycle around it."""

from __future__ import annotations

import cProfile
import time
import timeit
from collections.abc import Callable
from typing import Any

from bridge.core.decide import decide
from bridge.core.model import Interrupted, Origin, Thread
from bridge.core.record import Record
from bridge.protocols import PROTOCOLS
from bridge.records.answers import BadAnswer, read_answer
from bridge.records.topics import Topics
from bridge.slot.desk import Desk
from bridge.slot.engine import Engine
from tests.bench import mix
from tests.bench.desk import make_desk
from tests.bench.figure import Figure, Options, Report, spread
from tests.bench.pending import NOW_MS
from tests.bench.profiling import top

_TOPICS = Topics.under("")
_EVENTS = "run-finished"
_LOOPS = 2_000
_CYCLES = 4_000  # events, and answers, of the profiled cycles
_EACH = 50  # of both in one cycle
_PROFILED = 25


def run(options: Options) -> Report:
    """Decide alone, then whole cycles, then the same under the profiler."""
    desk = make_desk(_TOPICS, _EVENTS)
    rows = [
        (name, spread(_times(call, options.pairs), "µs")) for name, call in _calls(desk).items()
    ]
    many = options.count(_CYCLES)
    _cycles(desk, many, "warm")
    pure = [_cycles(desk, many, f"run-{n}") for n in range(options.pairs)]
    rows.append(("whole cycle without Kafka, per input", spread(pure, "µs", 1)))
    profile = cProfile.Profile(time.process_time)
    with profile:
        _cycles(desk, many, "profiled")
    return Report(tuple(rows), text=top(profile, _PROFILED))


def _calls(desk: Desk) -> dict[str, Callable[[], Any]]:
    """Each step of an event and of its answer, on the same inputs every time."""
    event, answer = _event("thread-1", 0), _answer("thread-1", 0)
    rules = desk.rules(mix.SOURCE, True)
    reader = PROTOCOLS["ag-ui"]
    opened = reader.read(event, mix.SOURCE, desk.limits).inputs[0]
    answered = read_answer(answer, desk.limits)
    assert isinstance(opened, Interrupted)
    assert not isinstance(answered, BadAnswer)
    pending = decide(Thread(), opened, NOW_MS, rules).thread
    return {
        "decide event": lambda: decide(Thread(), opened, NOW_MS, rules),
        "decide answer, with validation and command": lambda: decide(
            pending, answered, NOW_MS, rules
        ),
        "read event": lambda: reader.read(event, mix.SOURCE, desk.limits),
        "read answer": lambda: read_answer(answer, desk.limits),
    }


def _times(call: Callable[[], Any], repeat: int) -> list[float]:
    timeit.timeit(call, number=_LOOPS)
    return [
        1e6 * t / _LOOPS
        for t in timeit.repeat(call, timer=time.process_time, number=_LOOPS, repeat=repeat)
    ]


def _cycles(desk: Desk, many: int, name: str) -> float:
    """Microseconds of processor time per input, folding what each cycle wrote."""
    threads = [f"{name}-{number:07d}" for number in range(many)]
    inputs = [(_event(t, n), _answer(t, n)) for n, t in enumerate(threads)]
    engine = Engine(desk)
    engine.restored()
    began = time.process_time()
    for at in range(0, many + _EACH, _EACH):
        events = [event for event, _ in inputs[at : at + _EACH]]
        answers = [answer for _, answer in inputs[max(0, at - _EACH) : at]]
        engine.committed(engine.work(events + answers, now=NOW_MS), NOW_MS)
    return 1e6 * (time.process_time() - began) / (2 * many)


def _event(thread: str, offset: int) -> Record:
    return Record(mix.event(thread), thread.encode(), (), Origin(_EVENTS, 0, offset, NOW_MS))


def _answer(thread: str, offset: int) -> Record:
    origin = Origin(_TOPICS["answers"], 0, offset, NOW_MS)
    return Record(mix.answer(thread), thread.encode(), (), origin)


FIGURE = Figure(
    "decide",
    "decide alone for event and answer, and what dominates the whole cycle without Kafka",
    "reported",
    run,
)
