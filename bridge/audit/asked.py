"""Who asked what: each asking record under the run that it opened or repeats.

Some records leave that open: A2A's status without a message id or without items, Genkit's turn
whose state a client keeps. What was published tells what they became, and what they may become is
decided here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bridge.audit.log import LogRecord, Place
from bridge.audit.readings import Announced, Asked, Bad, Free, Kept, Over, Question, Reading, Unread

ThreadKey = tuple[str, str, str]  # source, scope, thread
RunKey = tuple[str, str, str, str]  # and the run
Opened = Mapping[tuple[Place, ThreadKey], Sequence[tuple[str, str]]]
"""(run, interrupt) ids in order, by the record that opened them and their thread."""

_KEPT_BYTES = 200_000  # more may be dropped, by a limit
Told = tuple[LogRecord, str, Reading]


def who_asked(events: Sequence[Told], opened: Opened) -> Iterator[tuple[RunKey, LogRecord, Asked]]:
    """Each asking record and its run; the run is empty where it opened none and names none."""
    by_thread: dict[ThreadKey, list[Told]] = {}
    for record, source, reading in events:
        if not isinstance(reading, Bad | Unread | Free | Announced | Over):
            key = (source, reading.scope, reading.thread)
            by_thread.setdefault(key, []).append((record, source, reading))
    for key, told_of in by_thread.items():
        sets = [
            reading.questions
            for _, _, reading in told_of
            if isinstance(reading, Kept) or (isinstance(reading, Asked) and not reading.bare)
        ]
        for number, (record, _, reading) in enumerate(told_of):
            if isinstance(reading, Asked):
                became = opened.get((record.place, key), ())
                items = _items(reading, became, sets, _just_before(told_of, number))
                run = reading.run or (became[0][0] if became else "")
                yield (*key, run), record, replace(reading, questions=items)


def _items(
    asked: Asked,
    became: Sequence[tuple[str, str]],
    sets: Sequence[tuple[Question, ...]],
    before: tuple[Question, ...],
) -> tuple[Question, ...]:
    """What a record without items asked: what was kept `before` it, else a set that was published.

    It stays one plain question where that is what was published, or no set has these ids.
    """
    if not (asked.bare and became):
        return asked.questions
    ids = [interrupt for _, interrupt in became]
    if before:
        return before
    taken = next((s for s in sets if [question.id for question in s] == ids), None)
    return asked.questions if taken is None else tuple(map(_lent, taken))


def _lent(question: Question) -> Question:
    """An item of another record: the words may be this one's."""
    shown = {name: value for name, value in question.shown.items() if name != "message"}
    return replace(question, shown=shown)


def _just_before(told_of: Sequence[Told], number: int) -> tuple[Question, ...]:
    """The items that the very record before it kept, where no other order is possible.

    None for a status with an id of its own: it may ask for something else.
    """
    record, _, reading = told_of[number]
    earlier, _, kept = told_of[number - 1]
    is_alone = {told[0].place[:2] for told in told_of} == {record.place[:2]}
    if not number or not is_alone or not isinstance(kept, Kept):
        return ()
    if not isinstance(reading, Asked) or reading.run is not None:
        return ()
    if len(earlier.value or b"") > _KEPT_BYTES or earlier.timestamp > record.timestamp:
        return ()
    return tuple(map(_lent, kept.questions))
