"""A desk, a ledger and records for tests of a cycle: everything of a slot but Kafka."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from bridge.core.model import Limits, Origin, SourcePolicy
from bridge.core.record import Header, Hop, Record
from bridge.core.schema import SchemaCache
from bridge.protocols import PROTOCOLS
from bridge.records.outgoing import Outgoing
from bridge.records.topics import Topics
from bridge.slot.desk import Desk, Source
from bridge.slot.engine import Engine, EngineTimes
from bridge.slot.ledger import Ledger

NOW = 1_800_000_000_000
EVENTS = "agents.run-finished"
TOPICS = Topics.under("bridge.")


def desk(slot: int = 0, slots: int = 1, policy: SourcePolicy | None = None) -> Desk:
    source = Source("agents", PROTOCOLS["ag-ui"], policy or SourcePolicy())
    return Desk(slot, slots, {EVENTS: source}, TOPICS, Limits(), SchemaCache(16))


def event(
    thread: str = "t-1",
    run: str = "r-1",
    ids: Sequence[str] = ("i-1",),
    offset: int = 0,
    at: int = NOW,
    **interrupt: Any,
) -> Record:
    """A run-finished event with these interrupts."""
    interrupts = [{"id": each, "reason": "tool_call", **interrupt} for each in ids]
    body = {
        "type": "RUN_FINISHED",
        "threadId": thread,
        "runId": run,
        "outcome": {"type": "interrupt", "interrupts": interrupts},
    }
    return raw(json.dumps(body).encode(), EVENTS, thread.encode(), offset, at)


def answer(
    thread: str = "t-1",
    run: str = "r-1",
    interrupt: str = "i-1",
    payload: object = True,
    offset: int = 0,
    at: int = NOW,
    **more: Any,
) -> Record:
    """An answer by full identity."""
    body = {
        "source": "agents",
        "thread_id": thread,
        "run_id": run,
        "interrupt_id": interrupt,
        "status": "resolved",
        "payload": payload,
        **more,
    }
    return raw(json.dumps(body).encode(), TOPICS["answers"], None, offset, at)


def raw(
    value: bytes | None,
    topic: str,
    key: bytes | None = None,
    offset: int = 0,
    at: int = NOW,
    headers: Sequence[Header] = (),
) -> Record:
    return Record(value, key, headers, Origin(topic, 0, offset, at))


class Bench:
    """A slot without Kafka: cycles run one after the other, each one's changes committed."""

    def __init__(self, at: Desk | None = None) -> None:
        self.desk = at or desk()
        self.engine = Engine(self.desk)
        self.engine.restored()
        self.log: dict[bytes, bytes | None] = {}
        self.counts: Counter[tuple[str, str]] = Counter()

    @property
    def ledger(self) -> Ledger:
        return self.engine.ledger

    def cycle(
        self, *records: Record, now: int = NOW, rerouted: bool = False, due: int | None = None
    ) -> list[Outgoing]:
        """One cycle over these records, then over what is due by `due`; what it sends."""
        self.engine.times = EngineTimes(reroute_grace=now if due is None else now - due)
        taken = [self._hopped(record) for record in records] if rerouted else records
        work = self.engine.work(taken, now=now)
        self.engine.committed(work, now)
        self.log.update(work.state)
        self.counts.update(work.counts)
        return [*work.outgoing]

    def _hopped(self, record: Record) -> Record:
        """The record as it comes home by reroute, sent by a worker with the same settings."""
        kind = self.desk.kind(record)
        source = self.desk.source(record).name if kind == "event" else ""
        return structs.replace(record, hop=Hop(Origin("bridge.reroute", 0, 0, NOW), kind, source))

    def restored(self, at: Desk | None = None) -> Bench:
        """Another slot that has read the compacted log of this one, perhaps of other settings."""
        other = Bench(at or self.desk)
        other.engine = Engine(other.desk)
        other.engine.fold(self.log.items())
        other.engine.restored()
        return other


def sent(outgoing: Sequence[Outgoing], topic: str) -> list[Mapping[str, Any]]:
    """The JSON values sent to a topic."""
    return [json.loads(out.value) for out in outgoing if out.topic == topic and out.value]
