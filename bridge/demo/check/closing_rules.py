"""I2, how runs end: nobody waits for ever, and a run that closes had a cause to.

Whether a cause had to close a run depends on an order that no log shows; that there is one does
not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from bridge.demo.check.events import Free
from bridge.demo.check.log import LogRecord, Violation, text_of
from bridge.demo.check.story import Life, RunKey, Story

_DONE = frozenset({"answered", "cancelled", "expired"})
_EFFECTS = {"withdraw": frozenset({"withdrawn"}), "expire": frozenset({"resumed", "unresumable"})}


def nothing_stays_open_for_ever(story: Story) -> Iterator[Violation]:
    """I2: a covered run is closed, an overdue one expires, a thread waits for its newest run."""
    waiting: dict[tuple[str, ...], RunKey] = {}
    for key, lives in story.runs():
        if lives[0].last.body.get("run_outcome") is not None:
            continue
        if all(life.statuses[-1] in _DONE for life in lives):
            yield Violation("I2", "every interrupt is covered, yet the run is open", key)
        if not story.setup.final:
            continue
        if any(_overdue(story, life) for life in lives):
            yield Violation("I2", "an interrupt is past its expiry and still open", key)
        if key[:3] in waiting:
            yield Violation("I2", "two open runs on one thread", (*key, waiting[key[:3]][3]))
        waiting[key[:3]] = key


def closed_for_a_cause(story: Story) -> Iterator[Violation]:
    """I2: superseded needs a rival run, an operator's reason its operation, moved_on a new run."""
    runs_of: dict[tuple[str, ...], set[str]] = {}
    for key in story.asked:
        runs_of.setdefault(key[:3], set()).add(key[3])
    started = {
        (event.source, event.reading.thread)
        for event in story.events
        if isinstance(event.reading, Free) and event.reading.resumes
    }
    for key, lives in story.runs():
        outcome = lives[0].last.body.get("run_outcome")
        reasons = {str(life.last.body.get("closed_reason")) for life in lives}
        if outcome == "superseded" and len(runs_of.get(key[:3], ())) < 2:
            yield Violation("I2", "superseded by no other run", key)
        if outcome == "withdrawn" and "operator" in reasons and not _operated(story, key):
            yield Violation("I2", "withdrawn by no operation", key)
        elsewhere = reasons & {"moved_on", "resumed_elsewhere"}
        ag_ui = lives[0].last.body.get("protocol") == "ag-ui"
        if outcome == "withdrawn" and elsewhere and ag_ui and (key[0], key[2]) not in started:
            yield Violation("I2", "moved on without a run that resumes", key)


def a_run_that_moved_on_is_closed(story: Story) -> Iterator[Violation]:
    """I2: who resumed all interrupts of a run elsewhere, after it on its partition, closed it."""
    started: dict[tuple[str, str], list[tuple[LogRecord, set[str]]]] = defaultdict(list)
    for record, _source, reading in story.events:
        refused = record.place in story.letters_of
        if isinstance(reading, Free) and reading.resumes and not refused:
            started[record.topic, str(reading.thread)].append((record, set(reading.resumes)))
    opened_at = {event.record.place: event.record.timestamp for event in story.events}
    for key, lives in story.runs():
        origin = lives[0].last.origin
        asked = {str(life.last.body.get("interrupt_id")) for life in lives}
        later = (
            resumed
            for record, resumed in started.get((origin[0], key[2]), [])
            if record.place > origin and record.partition == origin[1]
            if record.timestamp >= opened_at.get(origin, 0) and story.settled(record.place)
        )
        is_open = lives[0].last.body.get("run_outcome") is None
        if is_open and any(asked <= resumed for resumed in later):
            yield Violation("I2", "open, though somebody resumed all of it", key)


def operations_take_effect(story: Story) -> Iterator[Violation]:
    """I2: a run whose withdrawal or expiry was accepted is closed that way."""
    for place, given in story.given.items():
        verdicts = {str(v.body.get("verdict")) for v in story.verdicts_of.get(place, [])}
        life = story.latest(given.approval_id)
        if given.is_answer or "accepted" not in verdicts or life is None:
            continue
        wanted = _EFFECTS.get(str(given.body.get("op")), frozenset())
        if life.last.body.get("run_outcome") not in wanted:
            yield Violation("I2", "an accepted operation had no effect", (text_of(place),))


def _operated(story: Story, key: RunKey) -> bool:
    for verdict in story.verdicts:
        given = story.given.get(verdict.origin)
        if given is None or given.is_answer or verdict.body.get("verdict") != "accepted":
            continue
        life = story.latest(given.approval_id)
        named = (given.body.get("thread_id"), given.body.get("run_id"))
        if named == (key[2], key[3]) or (life is not None and life.last.run_key == key):
            return True
    return False


def _overdue(story: Story, life: Life) -> bool:
    expires = life.last.at("expires_at")
    if expires is None or life.statuses[-1] not in {"pending", "answered"}:
        return False
    return expires + story.setup.expiry_grace_ms < story.horizon
