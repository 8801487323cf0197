"""What of a log can be judged, and why the rest cannot.

A run or a record whose story began before the log does, or is being written while the log is read,
would look broken without being so. Rules judge everything; what they say of such is left out here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from bridge.audit import ids
from bridge.audit.asked import RunKey
from bridge.audit.log import LogRecord, Place, Role, Violation, place_in
from bridge.audit.readings import Unread
from bridge.audit.story import Event, Life, Output, Story

Why = Literal[
    "in_flight", "not_read_yet", "began_before", "other_framing", "other_topic", "other_thread"
]
WORDS: Final[Mapping[Why, str]] = {
    "in_flight": "in flight: written while this was read, or a moment before",
    "not_read_yet": "not read by the bridge yet",
    "began_before": "part of the story is older than the log that was read",
    "other_framing": "written in a way that is not read here",
    "other_topic": "from a topic that is no source's of these settings",
    "other_thread": "of other threads",
}

# What is published about a run or a record, besides its approvals. Those are compacted, not cut.
_OUTPUTS: tuple[Role, ...] = ("resume-commands", "answer-verdicts", "dead-letters", "reroute")
_CAUSES: tuple[Role, ...] = ("input", "operations")
_CLOSED_BY_INPUTS = frozenset({"superseded", "withdrawn"})


class Scope:
    """Why a run, or a record at a place, cannot be judged; None where it can."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._setup = story.setup
        self._runs: dict[RunKey, Why | None] = {}
        self._places: dict[Place, Why | None] = {}
        self._missing: dict[tuple[tuple[Role, ...], int | None], int] = {}
        self._events: dict[Place, list[Event]] = defaultdict(list)
        for event in story.events:
            self._events[event.record.place].append(event)
        self._published: dict[Place, tuple[LogRecord, Place]] = {}
        self._came_of: dict[Place, list[LogRecord]] = defaultdict(list)
        for record, origin in story.published():
            self._published[record.place] = (record, origin)
            self._came_of[origin].append(record)
        # Also where the answer itself is not in the log: an early one is older than its question.
        self._verdicts: dict[str, list[Output]] = defaultdict(list)
        for verdict in story.verdicts:
            self._verdicts[str(verdict.body.get("approval_id"))].append(verdict)

    def of_run(self, key: RunKey) -> Why | None:
        if key not in self._runs:
            self._runs[key] = self._of_run(key)
        return self._runs[key]

    def of_place(self, place: Place) -> Why | None:
        """Of an input record, or of one that was published."""
        if place not in self._places:
            found = self._published.get(place)
            self._places[place] = self._of_published(*found) if found else self._of_input(place)
        return self._places[place]

    def of_violation(self, violation: Violation) -> Why | None:
        """Whether what it is about can be judged."""
        run = self._run_of(violation)
        if run is not None:
            return self.of_run(run)
        return next((why for at in self.places(violation) if (why := self.of_place(at))), None)

    def places(self, violation: Violation) -> tuple[Place, ...]:
        """The records that show it: what it is about, and what became of that."""
        story, run = self._story, self._run_of(violation)
        if run is not None:
            records = [record for record, _ in story.asked.get(run, [])]
            records += [life.last.record for life in story.runs_by_key.get(run, [])]
            records += [command.record for command in story.commands_of.get(run, [])]
            return tuple(dict.fromkeys(record.place for record in records))
        place = place_in(violation.ids[0])
        if place is not None:
            return (place, *(record.place for record in self._came_of.get(place, [])))
        verdicts = story.accepted_by.get(violation.ids[0], [])
        return tuple(verdict.record.place for verdict in verdicts)

    def _run_of(self, violation: Violation) -> RunKey | None:
        """The run that it names, itself or by an approval."""
        if len(violation.ids) >= 4:
            source, scope, thread, run = violation.ids[:4]
            return (source, scope, thread, run)
        life = self._story.latest(violation.ids[0])
        return None if life is None else life.last.run_key

    def _of_run(self, key: RunKey) -> Why | None:
        if self._setup.thread not in (None, key[2]):
            return "other_thread"
        story, lives = self._story, self._story.runs_by_key.get(key, [])
        outputs = [revision for life in lives for revision in life.revisions]
        outputs += story.commands_of.get(key, [])
        for life in lives:
            said = self._verdicts.get(str(life.last.body.get("approval_id")), [])
            outputs += [verdict for verdict in said if verdict.body.get("verdict") == "accepted"]
        if any(self._is_young(output.record) for output in outputs):
            return "in_flight"
        places = [output.origin for output in outputs]
        if not lives:
            places += [record.place for record, _ in story.asked.get(key, [])]
            return next((why for at in places if (why := self._of_input(at))), None)
        if (why := next((why for at in places if (why := self._of_origin(at))), None)) is not None:
            return why
        if any(isinstance(e.reading, Unread) for at in places for e in self._events.get(at, ())):
            return "other_framing"
        return "began_before" if self._is_cut(lives) or self._asked_before(lives) else None

    def _is_cut(self, lives: Sequence[Life]) -> bool:
        """Whether a record of the run can be missing because it is too old for the log."""
        first = lives[0].revisions[0]
        opened = first.at("published_at") or first.record.timestamp
        if opened < self._missing_before(_OUTPUTS, first.record.partition):
            return True
        if lives[0].last.body.get("run_outcome") not in _CLOSED_BY_INPUTS:
            return False
        closed = max(life.last.at("closed_at") or 0 for life in lives)
        return closed < self._missing_before(_CAUSES, None)

    def _asked_before(self, lives: Sequence[Life]) -> bool:
        """Whether what it asks stood in records before its own, and the log may lack those.

        Items of A2A do, that a plain status asks for; what AG-UI's runs tell before they end.
        """
        if not self._story.lacks("input"):
            return False
        opener, first = self._story.opener(list(lives)), lives[0].revisions[0].body
        if opener is None:
            return True
        return opener.bare and first.get("interrupt_id") != first.get("run_id")

    def _of_published(self, record: LogRecord, origin: Place) -> Why | None:
        """Its input may be gone, or it may be young; whose it is its input tells."""
        if self._is_young(record):
            return "in_flight"
        why = self._of_origin(origin)
        return why if why or self._is_of_thread(origin) else "other_thread"

    def _of_input(self, place: Place) -> Why | None:
        story, came = self._story, self._came_of.get(place, [])
        given, events = story.given.get(place), self._events.get(place, [])
        why: Why | None = None
        if any(self._is_young(record) for record in came):
            why = "in_flight"
        elif given is None and not events:
            why = self._of_origin(place)
        elif not self._is_of_thread(place):
            why = "other_thread"
        elif any(isinstance(event.reading, Unread) for event in events):
            why = "other_framing"
        elif not story.settled(place):
            why = "not_read_yet"
        elif given is not None and self._is_young(given.record):
            why = "in_flight"
        else:
            record = events[0].record if given is None else given.record
            home = None
            if given is not None and given.sound and given.approval_id and self._setup.slots:
                home = ids.home_of_id(given.approval_id, self._setup.slots)
            is_old = record.timestamp < self._missing_before(_OUTPUTS, home)
            if not came and place[0] in self._setup.late_starts:
                # A source may have begun as late as the first record that something came of.
                known = [at[2] for at in self._came_of if at[:2] == place[:2]]
                is_old |= place[2] < min(known, default=place[2] + 1)
            if is_old:
                why = "began_before"
        return why

    def _of_origin(self, place: Place) -> Why | None:
        """Whether the log has that input record."""
        begin = self._setup.begins.get(place[:2])
        if begin is not None and place[2] < begin.offset:
            return "began_before"
        topics = self._setup.topics
        return "other_topic" if topics and place[0] and place[0] not in topics else None

    def _is_of_thread(self, place: Place) -> bool:
        wanted, story = self._setup.thread, self._story
        if wanted is None:
            return True
        threads = [getattr(event.reading, "thread", None) for event in self._events.get(place, ())]
        given = story.given.get(place)
        if given is not None:
            life = story.latest(given.approval_id)
            threads += [given.thread, None if life is None else life.last.run_key[2]]
        return wanted in threads

    def _is_young(self, record: LogRecord) -> bool:
        in_flight = self._setup.in_flight_ms
        return in_flight > 0 and record.timestamp > self._story.horizon - in_flight

    def _missing_before(self, roles: tuple[Role, ...], partition: int | None) -> int:
        """The instant from which nothing of these roles is missing, on one partition or on any."""
        asked = (roles, partition)
        if asked not in self._missing:
            begins = [
                begin.since if begin.since is not None else self._story.horizon
                for (topic, number), begin in self._setup.begins.items()
                if self._setup.topics.get(topic) in roles and partition in (None, number)
            ]
            self._missing[asked] = max(begins, default=0)
        return self._missing[asked]
