"""All records of one log, read once and indexed by what the rules ask for.

Nothing is judged here. Order between topics is unknown, so facts that depend on it (which event
opened a run, which answer came first) are taken from the published records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bridge.audit import text
from bridge.audit.answers import Given, read_given
from bridge.audit.asked import RunKey, who_asked
from bridge.audit.events import read_event
from bridge.audit.log import LogRecord, Place, Role, Setup, Source
from bridge.audit.readings import Asked, Reading
from bridge.audit.told import asked_at_the_end


class Output(NamedTuple):
    """A published record and its JSON body."""

    record: LogRecord
    body: dict[str, Any]

    @property
    def origin(self) -> Place:
        return place_of(self.body.get("origin"))

    @property
    def run_key(self) -> RunKey:
        named = (self.body.get(name) or "" for name in ("source", "scope", "thread_id", "run_id"))
        return tuple(map(str, named))  # type: ignore[return-value]  # four names, four parts

    def at(self, name: str) -> int | None:
        """The instant of that field in milliseconds."""
        return text.millis(self.body.get(name))


@dataclass(slots=True)
class Life:
    """The revisions of one approval from its first to its tombstone, in log order."""

    revisions: list[Output] = field(default_factory=list)
    forgotten: bool = False

    @property
    def last(self) -> Output:
        return self.revisions[-1]

    @property
    def statuses(self) -> list[str]:
        return [str(revision.body.get("status")) for revision in self.revisions]


class Event(NamedTuple):
    """An input record, its source and one thing that it means."""

    record: LogRecord
    source: str
    reading: Reading


class Story:
    """The log, indexed. Outputs whose value is no JSON object stand in `garbled`."""

    def __init__(self, records: Iterable[LogRecord], setup: Setup) -> None:
        self.setup = setup
        self.garbled: list[LogRecord] = []
        by_role: dict[Role, list[LogRecord]] = defaultdict(list)
        for record in sorted(records, key=lambda record: record.place):
            by_role[record.role].append(record)
        # A null is Kafka's delete: it asks nothing, answers nothing, and is owed nothing.
        events = [record for record in by_role["input"] if record.value is not None]
        meant = [
            (record, source.name, reading)
            for record in events
            for source in (setup.sources.get(record.topic) or Source(record.topic),)
            for reading in read_event(record, source, setup.json_depth, setup.record_bytes)
        ]
        self.events = [Event(*event) for event in asked_at_the_end(meant)]
        limits = (setup.json_depth, setup.record_bytes, setup.slots)
        written = [r for r in by_role["answers"] + by_role["operations"] if r.value is not None]
        read = [given for record in written if (given := read_given(record, *limits))]
        self.given = {given.record.place: given for given in read}
        self.commands = list(self._outputs(by_role["resume-commands"]))
        self.verdicts = list(self._outputs(by_role["answer-verdicts"]))
        self.letters = by_role["dead-letters"]
        self.hops = by_role["reroute"]
        self.lives = self._lives(by_role["approvals"])
        # Broker time is known from the topics that the broker stamps itself.
        own = (records for role, records in by_role.items() if role != "input")
        newest = max((r.timestamp for records in own for r in records), default=0)
        self.horizon = max(newest, setup.now or 0)
        self._index()

    def settled(self, place: Place) -> bool:
        """Whether the bridge has surely worked on this input record, its hop included."""
        if self.setup.final:
            return True
        positions = self.setup.positions
        if positions is None or positions.get(place[:2], 0) <= place[2]:
            return False
        hops = self.hops_of.get(place, [])
        return all(positions.get(hop.place[:2], 0) > hop.offset for hop in hops)

    def remembers(self, instant: int) -> bool:
        """Whether a run that was open then has its approvals on the topic, nothing lost."""
        setup = self.setup
        if not setup.compacted:
            return True
        return setup.remembered_ms is not None and instant > self.horizon - setup.remembered_ms

    def lacks(self, role: Role) -> bool:
        """Whether older records of that role may be missing, and with them the cause of others."""
        setup = self.setup
        return any(setup.topics.get(topic) == role for topic, _ in setup.begins)

    def latest(self, approval_id: str | None) -> Life | None:
        lives = self.lives.get(approval_id or "")
        return lives[-1] if lives else None

    def runs(self) -> Iterator[tuple[RunKey, list[Life]]]:
        """The lives of each run that is remembered, in the order of its interrupts."""
        for key, lives in self.runs_by_key.items():
            places = [life.last.body.get("index") for life in lives]
            order = [int(at) if isinstance(at, text.Number) else -1 for at in places]
            yield key, [lives[at] for at in sorted(range(len(lives)), key=order.__getitem__)]

    def accepted(self, approval_id: str) -> list[Given]:
        """The answer records whose verdict for this question is `accepted`."""
        origins = (verdict.origin for verdict in self.accepted_by.get(approval_id, []))
        return [self.given[origin] for origin in origins if origin in self.given]

    def published(self) -> Iterator[tuple[LogRecord, Place]]:
        """Every record that the bridge wrote, and the place of the input that made it."""
        for lives in self.lives.values():
            for life in lives:
                yield from ((revision.record, revision.origin) for revision in life.revisions)
        for output in self.commands + self.verdicts:
            yield output.record, output.origin
        for record in self.letters + self.hops:
            yield record, header_origin(record)

    def reasons_of(self, place: Place) -> list[str]:
        """What the dead letters about that record give as their reason."""
        letters = self.letters_of.get(place, [])
        return [(letter.header("bridge-reason") or b"").decode() for letter in letters]

    def opener(self, lives: list[Life]) -> Asked | None:
        """What the record asked that opened this run."""
        first = lives[0].revisions[0]
        events = self.asked.get(first.run_key, [])
        return next((asked for record, asked in events if record.place == first.origin), None)

    def _outputs(self, records: Iterable[LogRecord]) -> Iterator[Output]:
        for record in records:
            body = self._body(record)
            if body is not None:
                yield Output(record, body)

    def _body(self, record: LogRecord) -> dict[str, Any] | None:
        try:
            body = text.read(record.value, 4 * self.setup.json_depth)
        except text.Unreadable:
            body = None
        if not isinstance(body, dict):
            self.garbled.append(record)
            return None
        return body

    def _lives(self, records: Iterable[LogRecord]) -> dict[str, list[Life]]:
        lives: dict[str, list[Life]] = defaultdict(list)
        for record in records:
            key = (record.key or b"").decode(errors="replace")
            if key.startswith("__"):
                continue  # a takeover's harmless record
            if record.value is None:
                for life in lives.get(key, []):
                    life.forgotten = True
                continue
            body = self._body(record)
            if body is None:
                continue
            if not lives[key] or lives[key][-1].forgotten:
                lives[key].append(Life())
            lives[key][-1].revisions.append(Output(record, body))
        return dict(lives)

    def _index(self) -> None:
        self.runs_by_key: dict[RunKey, list[Life]] = defaultdict(list)
        for lives in self.lives.values():
            self.runs_by_key[lives[-1].last.run_key].append(lives[-1])
        opened: dict[tuple[Place, tuple[str, str, str]], list[tuple[str, str]]] = defaultdict(list)
        for key, lives in self.runs():
            for life in lives:
                first = life.revisions[0]
                named = (key[3], str(first.body.get("interrupt_id")))
                opened[first.origin, key[:3]].append(named)
        self.asked: dict[RunKey, list[tuple[LogRecord, Asked]]] = defaultdict(list)
        for key, record, asked in who_asked(self.events, opened):
            self.asked[key].append((record, asked))
        self.commands_of: dict[RunKey, list[Output]] = defaultdict(list)
        for command in self.commands:
            self.commands_of[command.run_key].append(command)
        self.verdicts_of: dict[Place, list[Output]] = defaultdict(list)
        self.accepted_by: dict[str, list[Output]] = defaultdict(list)
        for verdict in self.verdicts:
            self.verdicts_of[verdict.origin].append(verdict)
            given = self.given.get(verdict.origin)
            if verdict.body.get("verdict") == "accepted" and given and given.is_answer:
                self.accepted_by[str(verdict.body.get("approval_id"))].append(verdict)
        self.letters_of = _by_origin(self.letters)
        self.hops_of = _by_origin(self.hops)


def place_of(origin: Any) -> Place:
    """The place an `origin` member names; an impossible place where it is unreadable."""
    if not isinstance(origin, dict):
        return ("", -1, -1)
    try:
        return (str(origin["topic"]), int(origin["partition"]), int(origin["offset"]))
    except (KeyError, ValueError):
        return ("", -1, -1)


def header_origin(record: LogRecord) -> Place:
    """The place that the bridge-origin headers of a dead letter or a hop name."""
    names = ("bridge-origin-topic", "bridge-origin-partition", "bridge-origin-offset")
    topic, partition, offset = (record.header(name) for name in names)
    try:
        return ((topic or b"").decode(), int(partition or b"-1"), int(offset or b"-1"))
    except ValueError:
        return ("", -1, -1)


def _by_origin(records: Iterable[LogRecord]) -> dict[Place, list[LogRecord]]:
    found: dict[Place, list[LogRecord]] = defaultdict(list)
    for record in records:
        found[header_origin(record)].append(record)
    return dict(found)
