"""Questions that are told before their run ends: with the end, a record that asks them.

Told for the thread of a record's key, so their order is that of the key's partition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from bridge.audit.log import LogRecord
from bridge.audit.readings import Announced, Asked, Free, Over, Question, Reading

Meant = tuple[LogRecord, str, Reading]
_Thread = tuple[str, str, str]


def asked_at_the_end(events: Iterable[Meant]) -> Iterator[Meant]:
    """The events in log order, each end of a run with what it asks; what was told is free."""
    waiting: dict[_Thread, list[Question]] = defaultdict(list)
    for record, source, reading in events:
        if isinstance(reading, Announced):
            told = waiting[source, reading.scope, reading.thread]
            if reading.question.id is None or reading.question not in told:
                told.append(reading.question)  # told again under its own id it is one
            yield record, source, Free()
        elif isinstance(reading, Over):
            asked = waiting.pop((source, reading.scope, reading.thread), [])
            waiting.pop((source, "", reading.thread), None)
            if reading.run is not None:
                yield record, source, _asked(reading, asked)
        else:
            if isinstance(reading, Asked):
                waiting.pop((source, reading.scope, reading.thread), None)
            yield record, source, reading


def _asked(over: Over, told: list[Question]) -> Reading:
    if over.run is None or not over.asks or not told:
        return Free()
    questions = tuple(
        replace(question, id=f"legacy-{index}") if question.id is None else question
        for index, question in enumerate(told)
    )
    content = [[question.id, dict(question.shown)] for question in questions]
    return Asked(over.thread, over.run, questions, content, over.scope)
