"""A bridge without a broker, for tests of whoever reads and writes its topics.

It is the engine that workers run, on topics in memory and a clock that stands until it is moved.
What it does not have: the group, transactions, brokers that fail. Records and verdicts are the real
ones.

>>> from bridge.records import answer_for
>>> bridge = SlotDriver({"name": "agents", "protocol": "ag-ui", "topic": "agents.run-finished"})
>>> event = {
...     "type": "RUN_FINISHED",
...     "threadId": "thread-1",
...     "runId": "run-1",
...     "outcome": {"type": "interrupt", "interrupts": [{"id": "int-1", "reason": "tool_call"}]},
... }
>>> bridge.send("agents.run-finished", event, key="thread-1")
'agents.run-finished/0/0'
>>> (approval,) = bridge.pending()
>>> approval.interrupt_id, approval.status
('int-1', 'pending')
>>> bridge.answer(answer_for(approval, payload={"approved": True}))
'bridge.answers/0/0'
>>> bridge.verdicts()[-1].verdict
'accepted'
>>> bridge.commands()[0].entries[0].status
'resolved'
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from bridge.config import Config
from bridge.config.engine import engine
from bridge.core.ids import home_slot
from bridge.core.model import Origin
from bridge.core.record import Header, Record
from bridge.records import (
    Answer,
    AnswerVerdict,
    Approval,
    DeadLetter,
    Operation,
    ResumeCommand,
    decode,
    encode,
)
from bridge.records.topics import OWN_INPUTS, Role
from bridge.slot.work import Place, Work

START: Final = datetime(2027, 1, 15, 8, 0, tzinfo=UTC)
"""When a driver begins, if nothing else is said."""

Value = bytes | str | Mapping[str, Any] | None
"""Bytes and text as they are, anything else as JSON; None is Kafka's delete."""


class Written(Struct, frozen=True):
    """A record that a slot wrote, at its place."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[Header]

    def json(self) -> Any:
        """The value as Python has it."""
        return json.loads(self.value or b"null")


class _Slot:
    """An engine, the state partition that it was read from, and what it has not read yet."""

    def __init__(self, config: Config, number: int) -> None:
        self._config = config
        self._number = number
        self._state: dict[bytes, bytes | None] = {}  # as compaction leaves it
        self.waiting: list[Record] = []
        self.positions: dict[Place, int] = {}
        self.engine = engine(config, number)

    def open(self, now: int) -> None:
        """As the next owner: from the state alone."""
        self.engine = engine(self._config, self._number)
        self.engine.fold(self._state.items())
        self.engine.restored()
        begins = dict.fromkeys(map(place_of, self.waiting), 0)
        self.positions = begins | (dict(self.engine.ledger.positions) or self.positions)
        self.commit(self.engine.takeover({}, self.positions), now)
        unread = {place_of(each): each.origin.offset + 1 for each in self.waiting}
        self.engine.opened(now, unread)

    def work(self, now: int) -> Work:
        """One cycle over what waits and what is due; nothing has happened before its commit."""
        return self.engine.work(self._taken(), self.behind(), now)

    def behind(self) -> dict[Place, int]:
        """Where reading goes on after the next cycle."""
        taken = {place_of(each): each.origin.offset + 1 for each in self._taken()}
        return self.positions | taken

    def _taken(self) -> list[Record]:
        return self.waiting[: self._config.limits.cycle_max]

    def commit(self, work: Work, now: int) -> None:
        self._state.update(work.state)
        self.engine.committed(work, now)
        self.positions |= self.engine.ledger.positions
        self.waiting = [
            each
            for each in self.waiting
            if each.origin.offset >= self.positions.get(place_of(each), 0)
        ]


def place_of(record: Record) -> Place:
    """The partition where the record stands."""
    return record.origin.topic, record.origin.partition


class SlotDriver:
    """Slots that share topics in memory.

    What is sent is worked on at once, hops to other slots included. As after any takeover, nothing
    that is due happens before `takeover_grace` has passed (30 s): `advance` moves the clock.
    """

    def __init__(
        self,
        *sources: Mapping[str, Any],
        slots: int = 1,
        start: datetime = START,
        **sections: Mapping[str, Any],
    ) -> None:
        """`sources` are tables as under [[sources]] in bridge.toml, and `sections` its other ones,
        by name: `policy={"default_ttl": "1h"}`. Raises pydantic's ValidationError.
        """
        given = {name: dict(section) for name, section in sections.items()}
        given["topics"] = {"partitions": slots, **given.get("topics", {})}
        kafka = {"bootstrap_servers": "127.0.0.1:9092"}  # nobody connects to it
        self.config = Config.model_validate(
            {"kafka": kafka, "sources": [dict(each) for each in sources], **given}
        )
        self.written: list[Written] = []  # by all slots, in order
        self.counts: Counter[tuple[str, str]] = Counter()  # by (metric, label)
        self._topics = self.config.topics.names()
        self._now = round(start.timestamp() * 1_000)
        self._ends: Counter[Place] = Counter()
        self._slots = [_Slot(self.config, number) for number in range(slots)]
        own = [self._topics[role] for role in OWN_INPUTS]
        inputs = [topic for each in self.config.sources for topic in each.topic_names]
        self._inputs = frozenset([*own, *inputs])
        for number, slot in enumerate(self._slots):
            slot.positions = {(topic, number): 0 for topic in self._inputs}
            slot.open(self._now)

    # --- Writing ------------------------------------------------------------------------------

    def send(
        self,
        topic: str,
        value: Value,
        key: str | bytes | None = None,
        headers: Iterable[Header] = (),
        *,
        partition: int | None = None,
        at: datetime | None = None,
        work: bool = True,
    ) -> str:
        """Write a record to an input topic; where it stands, as `topic/partition/offset`.

        Without `partition` it goes where Kafka's default partitioner puts the key, one without a
        key to 0. `at`: its timestamp. Without `work` it waits for the next one, or for a `crash`.
        Raises ValueError for a topic that no slot reads.
        """
        if topic not in self._inputs:
            raise ValueError(f"{topic} is read by no slot; those are {sorted(self._inputs)}")
        given = key.encode() if isinstance(key, str) else key
        if partition is None:
            text = None if given is None else given.decode(errors="replace")
            partition = 0 if text is None else home_slot(text, len(self._slots))
        stamp = self._now if at is None else round(at.timestamp() * 1_000)
        origin = Origin(topic, partition, self._next(topic, partition), stamp)
        record = Record(_bytes(value), given, tuple(headers), origin)
        self._slots[partition % len(self._slots)].waiting.append(record)
        if work:
            self.work()
        return str(origin)

    def answer(self, answer: Answer | Value, *, key: str | bytes | None = None) -> str:
        """Write to `answers`; whatever it is, one verdict comes of it."""
        return self._submit("answers", answer, key)

    def operate(self, operation: Operation | Value, *, key: str | bytes | None = None) -> str:
        """Write to `operations`; whatever it is, one verdict comes of it."""
        return self._submit("operations", operation, key)

    def _submit(
        self, role: Role, record: Answer | Operation | Value, key: str | bytes | None
    ) -> str:
        if isinstance(record, Answer | Operation):
            sent = encode(record)
            return self.send(self._topics[role], sent.value, key or sent.key, sent.headers)
        return self.send(self._topics[role], record, key)

    # --- Time and faults ----------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        """Broker time, which all slots go by."""
        return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=self._now)

    def advance(self, seconds: float) -> None:
        """Move the clock; what comes due on the way happens at its own instant."""
        until = self._now + round(seconds * 1_000)
        while True:
            dues = [due for slot in self._slots if (due := slot.engine.next_due) is not None]
            on_the_way = [max(due, self._now) for due in dues if due <= until]
            held = (slot.engine.held_until for slot in self._slots)
            on_the_way += [end for end in held if self._now < end <= until]
            self._now = min(on_the_way, default=until)
            self.work()
            if not on_the_way:
                return

    def work(self) -> None:
        """Let every slot work until nothing waits; each cycle is one transaction."""
        again = True
        while again:
            again = False
            for number, slot in enumerate(self._slots):
                work = slot.work(self._now)
                if work.is_worth_it:
                    slot.commit(work, self._now)
                    self._write(number, work)
                elif slot.waiting:  # positions alone wait for company; here nothing else comes
                    slot.commit(slot.engine.heartbeat(slot.behind()), self._now)
                self.counts.update(work.counts)
                again = again or any(each.waiting for each in self._slots)

    def crash(self, slot: int | None = None) -> None:
        """Lose what was worked on and not committed, then restore from the log alone.

        Of one slot, or of all. Call it after `send(…, work=False)`: the same outputs come of it.
        """
        for number in range(len(self._slots)) if slot is None else (slot,):
            self._slots[number].work(self._now)
            self._slots[number].open(self._now)

    # --- Reading ------------------------------------------------------------------------------

    def read(self, role: Role) -> list[Written]:
        """All that was written to one of the bridge's own topics, by its role."""
        return [each for each in self.written if each.topic == self._topics[role]]

    def approvals(self) -> list[Approval]:
        """The newest revision of each that stands, in the order in which they were first there."""
        found: dict[bytes | None, Approval] = {}
        for each in self.read("approvals"):
            approval = decode(Approval, each)
            if approval is None:
                found.pop(each.key, None)
            else:
                found[each.key] = approval
        return list(found.values())

    def pending(self) -> list[Approval]:
        """Those that wait for an answer."""
        return [each for each in self.approvals() if each.status == "pending"]

    def verdicts(self) -> list[AnswerVerdict]:
        """On all answers and operations, in order."""
        read = self.read("answer-verdicts")
        return [each for one in read if (each := decode(AnswerVerdict, one)) is not None]

    def commands(self) -> list[ResumeCommand]:
        """All resume commands, in order."""
        read = self.read("resume-commands")
        return [each for one in read if (each := decode(ResumeCommand, one)) is not None]

    def dead_letters(self) -> list[DeadLetter]:
        """What was refused, in order."""
        return [decode(DeadLetter, each) for each in self.read("dead-letters")]

    def _write(self, number: int, work: Work) -> None:
        for out in work.outgoing:
            partition = number if out.partition is None else out.partition
            topic = self._topics[out.topic]
            place = Origin(topic, partition, self._next(topic, partition), self._now)
            written = Written(
                topic=topic,
                partition=partition,
                offset=place.offset,
                timestamp=self._now,
                key=out.key,
                value=out.value,
                headers=out.headers,
            )
            self.written.append(written)
            if out.topic == "reroute":
                record = Record(out.value, out.key, out.headers, place)
                self._slots[partition].waiting.append(record)

    def _next(self, topic: str, partition: int) -> int:
        self._ends[topic, partition] += 1
        return self._ends[topic, partition] - 1


def _bytes(value: Value) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).encode()
