"""The bridge without Kafka: a planned load goes through the cycles of every slot, in memory.

Not a second bridge: no transactions, no workers, one thread of control. Records gather to batches,
and now and then a slot forgets a cycle before it is committed and restores what it knew. It leaves
the log that a bridge would leave, a thousand records in a second, for the checker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from bridge.audit.log import LogRecord, Role, Setup
from bridge.core.ids import home_slot
from bridge.core.model import Limits, Origin, SourcePolicy
from bridge.core.record import Record
from bridge.core.schema import SchemaCache
from bridge.protocols import PROTOCOLS
from bridge.records.outgoing import Outgoing
from bridge.records.topics import Topics
from bridge.slot import desk as desks
from bridge.slot.engine import Engine, EngineTimes
from tests.chaos.agents import AGENTS
from tests.chaos.agents.source import Source
from tests.chaos.plan import cycles
from tests.chaos.script import Step, play_of, steps

SLOTS, START = 3, 1_790_000_000_000
STRIDE = 300  # milliseconds between two cycles: many are open at once
EARLY_ANSWER_TTL, TIMES = 20_000, EngineTimes(reroute_grace=2_000)
AT_ONCE, CRASHES = 0.5, 0.03  # how often a record is worked on alone, and a cycle is lost
SETUP = Setup(
    {name: agent.source.checked() for name, agent in AGENTS.items()},
    slots=SLOTS,
    final=True,
    clock_slack_ms=0,  # all read one clock here
)


def rehearsed(seed: int, count: int, sources: tuple[str, ...] = tuple(AGENTS)) -> list[LogRecord]:
    """The log of `count` planned cycles, their records shuffled in time."""
    rehearsal = Rehearsal(seed)
    for at, source, step in sorted(_timed(seed, count, sources), key=lambda sent: sent[0]):
        rehearsal.pass_time(START + at)
        role = source.name if step.role == "input" else step.role
        rehearsal.feed(role, step.key, step.written(START + at))
    return rehearsal.end()


def _timed(seed: int, count: int, sources: tuple[str, ...]) -> Iterable[tuple[int, Source, Step]]:
    """(milliseconds from the start, source, step) of every record."""
    chance, plays = Random(seed), {}
    for each in cycles(seed, count, sources):
        asked_at = each.number * STRIDE
        plays[each.number] = play_of(each, START + asked_at)
        before = None if each.before is None else plays[each.before]
        for step in steps(each, plays[each.number], before, chance):
            yield max(0, asked_at + step.at), each.source, step


class Slot:
    """One slot's state and the records that wait for it."""

    def __init__(self, desk: desks.Desk) -> None:
        self._desk = desk
        self._engine = Engine(desk, TIMES)
        self._committed: dict[bytes, bytes | None] = {}
        self.waiting: list[Record] = []

    def work(self, now: int, *, commits: bool) -> Sequence[Outgoing]:
        """What it sends about all that waits or is due; without its commit nothing has happened."""
        work = self._engine.work(self.waiting, now=now)
        if not commits:
            self._engine = Engine(self._desk, TIMES)
            self._engine.fold(self._committed.items())
            self._engine.restored()
            return ()
        self.waiting.clear()
        self._engine.committed(work, now)
        self._committed.update(work.state)
        return work.outgoing


class Rehearsal:
    """Topics as lists, and a clock that is set by hand.

    Topics are called by their role, those of sources by the source's name.
    """

    def __init__(self, seed: int) -> None:
        self.log: list[LogRecord] = []
        self.now = START
        self._chance = Random(seed)
        self._ends: Counter[tuple[str, int]] = Counter()
        sources = {name: _read(agent.source) for name, agent in AGENTS.items()}
        self._slots = [Slot(_desk(slot, sources)) for slot in range(SLOTS)]

    def feed(self, topic: str, key: bytes | None, value: bytes | None) -> None:
        """One record on an input topic; sooner or later its slot works on it."""
        self.now += self._chance.randrange(1, 50)
        partition = self._chance.randrange(SLOTS)
        if key is not None:
            partition = home_slot(key.decode(errors="replace"), SLOTS)
        written = self._append(topic, partition, key, value)
        self._slots[partition].waiting.append(_record(written))
        self.now += self._chance.randrange(1, 50)
        if self._chance.random() < AT_ONCE:
            self._work(partition)

    def pass_time(self, until: int) -> None:
        """Let the clock run, half a second at a time, with all timers that come due."""
        while self.now < until:
            self.now = min(self.now + 500, until)
            for slot in range(SLOTS):
                self._work(slot)

    def end(self) -> list[LogRecord]:
        """The whole log, once nothing is due any more."""
        self.pass_time(self.now + 120_000)
        self._append("state", 0, b"meta", b"opaque")
        return self.log

    def _work(self, slot: int) -> None:
        """A cycle of the slot; perhaps one before it that never was committed."""
        if self._chance.random() < CRASHES:
            self._slots[slot].work(self.now, commits=False)
        for out in self._slots[slot].work(self.now, commits=True):
            partition = slot if out.partition is None else out.partition
            written = self._append(out.topic, partition, out.key, out.value, out.headers)
            if out.topic == "reroute":
                self._slots[partition].waiting.append(_record(written))

    def _append(
        self,
        topic: str,
        partition: int,
        key: bytes | None,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> LogRecord:
        offset = self._ends[topic, partition]
        self._ends[topic, partition] += 1
        role: Role = "input" if topic in AGENTS else topic  # type: ignore[assignment]  # a role
        record = LogRecord(role, topic, partition, offset, self.now, key, value, tuple(headers))
        self.log.append(record)
        return record


def _read(source: Source) -> desks.Source:
    protocol = PROTOCOLS[source.protocol].configured(source.options)
    policy = SourcePolicy(default_ttl=source.default_ttl, early_answer_ttl=EARLY_ANSWER_TTL)
    return desks.Source(source.name, protocol, policy)


def _desk(slot: int, sources: Mapping[str, desks.Source]) -> desks.Desk:
    topics = Topics.under("")
    return desks.Desk(slot, SLOTS, sources, topics, Limits(), SchemaCache(64))


def _record(written: LogRecord) -> Record:
    place = Origin(written.topic, written.partition, written.offset, written.timestamp)
    return Record(written.value, written.key, written.headers, place)
