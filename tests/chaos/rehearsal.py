"""The rules without Kafka: a planned load goes through reader, `decide` and records in memory.

Not a second bridge: no transactions, no restore, no workers, one thread of control. It leaves the
log that a bridge without faults would leave, thousands of records in a second, for the checker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random
from typing import Literal

from bridge.core.decide import decide
from bridge.core.ids import home_slot, make_id
from bridge.core.model import (
    Answer,
    DeadLetter,
    Effect,
    Forget,
    Input,
    Interrupted,
    Judged,
    Limits,
    Operation,
    Origin,
    Parked,
    Publish,
    Resume,
    Run,
    SourcePolicy,
    Thread,
    ThreadKey,
    Tick,
)
from bridge.core.record import Record
from bridge.core.rules import Rules
from bridge.core.schema import SchemaCache
from bridge.core.timers import next_timer
from bridge.demo.check.log import LogRecord, Role, Setup
from bridge.protocols import PROTOCOLS
from bridge.records.answers import BadAnswer, read_answer
from bridge.records.approval import approval_record, forget_records
from bridge.records.command import command_record
from bridge.records.dead_letter import dead_letter
from bridge.records.operations import read_operation
from bridge.records.outgoing import Outgoing
from bridge.records.reroute import reroute_record
from bridge.records.verdict import verdict_record

SOURCE, SLOTS, START = "support", 3, 1_790_000_000_000
SETUP = Setup({"input": SOURCE}, slots=SLOTS, final=True)

InputRole = Literal["input", "answers", "operations"]


class Rehearsal:
    """Topics as lists, threads as a dict, a clock that is set by hand."""

    def __init__(self, seed: int) -> None:
        self.log: list[LogRecord] = []
        self.now = START
        self._chance = Random(seed)
        self._ends: Counter[tuple[Role, int]] = Counter()
        self._threads: dict[ThreadKey, Thread] = {}
        self._thread_of: dict[str, ThreadKey] = {}
        self._parked: dict[str, tuple[Parked, ...]] = {}
        self._protocol = PROTOCOLS["ag-ui"]
        policy = SourcePolicy(early_answer_ttl=20_000)
        self._rules = Rules(policy, Limits(), self._protocol.build, SchemaCache(64))

    def feed(self, role: InputRole, key: bytes | None, value: bytes | None) -> None:
        """One record on an input topic, and what the bridge makes of it at once."""
        self.now += self._chance.randrange(1, 50)
        partition = self._chance.randrange(SLOTS)
        if key is not None:
            partition = home_slot(key.decode(errors="replace"), SLOTS)
        written = self._append(role, partition, key, value)
        origin = Origin(written.topic, partition, written.offset, written.timestamp)
        record = Record(value, key, (), origin)
        self.now += self._chance.randrange(1, 50)
        for event in self._read(role, record):
            self._take(partition, record, event)

    def pass_time(self, until: int) -> None:
        """Let the clock run, half a second at a time, with all timers that come due."""
        while self.now < until:
            self.now = min(self.now + 500, until)
            for key, thread in list(self._threads.items()):
                due = (next_timer(run) for run in thread.runs)
                if any(instant is not None and instant <= self.now for instant in due):
                    self._decide(key, thread, Tick(), ())
            for approval_id, parked in list(self._parked.items()):
                over = tuple(one for one in parked if one.until <= self.now)
                if over:
                    self._decide(None, Thread(parked=over), Tick(), (approval_id,))

    def end(self) -> list[LogRecord]:
        """The whole log, once nothing is due any more."""
        self.pass_time(self.now + 120_000)
        self._append("state", 0, b"meta", b"opaque")
        return self.log

    def _read(self, role: InputRole, record: Record) -> Sequence[Input]:
        slot = record.origin.partition
        if role == "input":
            reading = self._protocol.read(record, SOURCE, self._rules.limits)
            if reading.refusal is not None:
                self._publish(slot, dead_letter(record, reading.refusal, SOURCE, Limits()))
            return reading.inputs
        reader = read_answer if role == "answers" else read_operation
        given = reader(record, self._rules.limits)
        if not isinstance(given, BadAnswer):
            return (given,)
        self._publish(slot, dead_letter(record, given.refusal, "", Limits()))
        self._publish(slot, verdict_record(given.judged(self.now)))
        return ()

    def _take(self, slot: int, record: Record, event: Input) -> None:
        assert not isinstance(event, Tick)
        ids, key = tuple(_concerned(event)), event.thread
        home = _home_of_id(ids[0]) if key is None else home_slot(key.thread_id, SLOTS)
        if home != slot:
            self._publish(slot, reroute_record(record, home, key.thread_id if key else None))
        key = key or next((self._thread_of[i] for i in ids if i in self._thread_of), None)
        parked = tuple(one for i in ids for one in self._parked.get(i, ()))
        known = self._threads.get(key, Thread()) if key else Thread()
        self._decide(key, Thread(known.runs, parked, known.carry), event, ids, record)

    def _decide(
        self,
        key: ThreadKey | None,
        thread: Thread,
        event: Input,
        ids: tuple[str, ...],
        record: Record | None = None,
    ) -> None:
        decision = decide(thread, event, self.now, self._rules)
        for approval_id in ids:
            gone = {id(one) for one in thread.parked}
            kept = [one for one in self._parked.get(approval_id, ()) if id(one) not in gone]
            kept += [one for one in decision.thread.parked if one.approval_id == approval_id]
            self._parked[approval_id] = tuple(kept)
        if key is not None:
            self._threads[key] = Thread(decision.thread.runs, (), decision.thread.carry)
            self._thread_of.update((i, key) for run in decision.thread.runs for i in _ids(run))
        slot = _home_of_id(ids[0]) if key is None else home_slot(key.thread_id, SLOTS)
        for effect in decision.effects:
            for outgoing in _outgoing(effect, record):
                self._publish(slot, outgoing)

    def _publish(self, slot: int, out: Outgoing) -> None:
        partition = slot if out.partition is None else out.partition
        self._append(out.topic, partition, out.key, out.value, out.headers)

    def _append(
        self,
        role: Role,
        partition: int,
        key: bytes | None,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> LogRecord:
        offset = self._ends[role, partition]
        self._ends[role, partition] += 1
        record = LogRecord(role, role, partition, offset, self.now, key, value, tuple(headers))
        self.log.append(record)
        return record


def _concerned(event: Input) -> Iterable[str]:
    """The approval ids that an input names, or whose early answers it should see."""
    if isinstance(event, Interrupted):
        return [_id(event.thread, event.run_id, q.interrupt_id) for q in event.questions]
    if isinstance(event, Answer | Operation) and event.approval_id is not None:
        return [event.approval_id]
    return []


def _ids(run: Run) -> Iterable[str]:
    return (_id(run.thread, run.run_id, item.question.interrupt_id) for item in run.items)


def _id(thread: ThreadKey, run_id: str, interrupt_id: str) -> str:
    return make_id("approval", thread.source, "", thread.thread_id, run_id, interrupt_id)


def _home_of_id(approval_id: str) -> int:
    return (int(approval_id[:8], 16) & 0x7FFFFFFF) % SLOTS


def _outgoing(effect: Effect, record: Record | None) -> Iterable[Outgoing]:
    match effect:
        case Publish(run, index):
            return [approval_record(run, index)]
        case Forget(run):
            return forget_records(run)
        case Judged():
            return [verdict_record(effect)]
        case Resume():
            return [command_record(effect)]
        case DeadLetter(refusal) if record is not None:
            return [dead_letter(record, refusal, SOURCE, Limits())]
        case _:
            return []
