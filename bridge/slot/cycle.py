"""One cycle: records and due timers in, one transaction's worth of records out.

No I/O: a cycle reads a ledger through its draft and collects what is to be written. Whoever owns
the producer sends it, and only then may the ledger fold it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from bridge.core.context import body_of
from bridge.core.decide import decide
from bridge.core.ids import home_of_id, home_slot
from bridge.core.model import (
    Answer,
    Counted,
    DeadLetter,
    Drop,
    Effect,
    Forget,
    Input,
    Interrupted,
    Judged,
    Metric,
    Millis,
    Operation,
    Origin,
    Outdate,
    Patch,
    Probe,
    Publish,
    Refusal,
    Resume,
    ResumeAnswered,
    ResumeSeen,
    Run,
    RunEnded,
    RunFailed,
    RunStarted,
    Thread,
    ThreadEnded,
    ThreadKey,
    Tick,
    WentOn,
)
from bridge.core.record import Record
from bridge.errors import BridgeError
from bridge.protocols.framing import Bare, bare
from bridge.records.answers import BadAnswer, read_answer
from bridge.records.dead_letter import dead_letter, record_size
from bridge.records.headers import trace_context
from bridge.records.operations import read_operation
from bridge.records.outgoing import BROKER_MESSAGE_BYTES, Outgoing
from bridge.records.published import approval, command, forget_records, publish, verdict
from bridge.records.reroute import misrouted, reroute_record
from bridge.slot.desk import Desk, Source
from bridge.slot.draft import Draft
from bridge.slot.ledger import Ledger


class Cycle:
    """Collects decisions of one slot at one instant of broker time."""

    def __init__(self, desk: Desk, ledger: Ledger, now: Millis) -> None:
        self._desk = desk
        self.draft = Draft(ledger)
        self._now = now
        self.outgoing: list[Outgoing] = []
        self.counts: Counter[tuple[Metric, str]] = Counter()
        self.ages: list[float] = []  # seconds each question was open that this cycle closed
        self.defects: list[tuple[Origin, Exception]] = []  # of ours, for the log
        self._closed: set[tuple[ThreadKey, str, int]] = set()

    def take(self, record: Record) -> None:
        """Read one record of an input topic and apply or forward what it says.

        A record that came by reroute is given as it stood at its origin; it is never sent on again.
        Raises SourceNotConfigured, InputUnknown and RerouteNotHome: what no worker with these
        settings may read.
        """
        before = len(self.outgoing)
        try:
            self._take(record)
        except BridgeError:
            raise
        except Exception as error:
            # A defect of ours on one record must not stop its partition: it would come for ever.
            self.defects.append((record.origin, error))
            del self.outgoing[before:]
            self._set_aside(
                record, Refusal("unsupported", f"internal error: {type(error).__name__}")
            )

    def _take(self, record: Record) -> None:
        kind = self._desk.kind(record)
        pointer = self._desk.source(record).event_pointer if kind == "event" else ()
        unframed = bare(record, pointer, self._desk.limits.record_bytes)
        if unframed.refusal is not None:
            self._set_aside(record, unframed.refusal)
        elif unframed.record.value is None:  # Kafka's delete, and what wraps nothing
            self.counts["lenient", "null_value"] += 1
        elif kind == "event":
            self._take_event(unframed.record, self._desk.source(record), unframed.counts)
        else:
            self._take_request(unframed, kind)

    def _set_aside(self, record: Record, refusal: Refusal) -> None:
        if self._desk.kind(record) == "event":
            self._emit((DeadLetter(refusal),), record, self._desk.source(record).name)
        else:
            self._refuse(record, BadAnswer(record.origin, refusal))

    def fire(self, key: bytes, until: Millis) -> None:
        """What is due by `until` in this thread, or of the early answers under an approval id."""
        thread = self.draft.due(key)
        source = thread.runs[0].thread.source if thread.runs else ""
        self._emit(self._decide(key, thread, Tick(until), source), _NO_RECORD, source)

    def _take_event(self, record: Record, source: Source, framing: tuple[Counted, ...]) -> None:
        reading = source.protocol.read(record, source.name, self._desk.limits)
        inputs = reading.inputs
        room = max(self._desk.limits.record_bytes, BROKER_MESSAGE_BYTES)
        if reading.refusal is not None and record_size(record) > room:  # what `reroute` takes
            inputs = tuple(event for event in inputs if self._home(event) == self._desk.slot)
        if len(inputs) > 1:
            inputs = tuple(filter(self._is_worth_a_hop, inputs))
        if inputs and not self._route(record, inputs, source.name):
            return  # counted, or set aside, where it is applied
        if reading.refusal is not None:
            self._emit((DeadLetter(reading.refusal),), record, source.name)
        for counted in (*framing, *reading.counts):
            self._count(counted)

    def _is_worth_a_hop(self, event: Input) -> bool:
        """Whether it has to be told at its home; what only forgets does so where it is read."""
        forgets = isinstance(event, RunEnded) and not event.run_id and not event.in_order
        return not forgets or self._home(event) == self._desk.slot

    def _take_request(self, unframed: Bare, kind: Literal["answer", "operation"]) -> None:
        record, limits = unframed.record, self._desk.limits
        for counted in unframed.counts:
            self._count(counted)
        request = (
            read_answer(record, limits, self._count)
            if kind == "answer"
            else read_operation(record, limits)
        )
        if isinstance(request, BadAnswer):
            self._refuse(record, request)
        elif isinstance(request, Probe):
            self._take_probe(record, request)
        else:
            self._route(record, (request,), "")

    def _take_probe(self, record: Record, probe: Probe) -> None:
        """Say that this slot reads and writes; a probe of another slot takes the way there."""
        if probe.slot >= self._desk.slots:
            refusal = Refusal("malformed", f"slots are 0 to {self._desk.slots - 1}", "/slot")
            self._refuse(record, BadAnswer(record.origin, refusal))
        elif probe.slot == self._desk.slot:
            judged = Judged(
                verdict="probed",
                origin=probe.origin,
                answer_id=str(probe.origin),
                decided_at=self._now,
            )
            self._emit((judged,), record, "")
        elif record.hop is not None:
            raise misrouted(record, self._desk.slot, probe.slot)
        else:
            self._hop(record, probe.slot)

    def _refuse(self, record: Record, bad: BadAnswer) -> None:
        self._emit((bad.judged(self._now), DeadLetter(bad.refusal)), record, "")

    def _route(self, record: Record, inputs: tuple[Input, ...], source: str) -> bool:
        """Apply what is at home here (whether there was any); the record goes once to each other.

        Raises RerouteNotHome for a rerouted record of which nothing is at home here.
        """
        homes = [self._home(event) for event in inputs]
        here = self._desk.slot in homes
        if record.hop is not None and not here:
            raise misrouted(record, self._desk.slot, homes[0])
        for event, home in zip(inputs, homes, strict=True):
            if home == self._desk.slot:
                self._apply(event, record, source)
        if record.hop is None:
            # One hop to each other home, keyed by a thread that lives there.
            for home, event in dict(zip(homes, inputs, strict=True)).items():
                if home != self._desk.slot:
                    assert not isinstance(event, Tick)
                    thread_id = event.thread.thread_id if event.thread is not None else None
                    self._hop(record, home, source, thread_id)
        return here

    def _hop(
        self, record: Record, home: int, source: str = "", thread_id: str | None = None
    ) -> None:
        kind = self._desk.kind(record)
        self.outgoing.append(reroute_record(record, home, kind, source, thread_id))
        self.counts["rerouted", record.origin.topic] += 1

    def _home(self, event: Input) -> int:
        assert not isinstance(event, Tick)
        if event.thread is not None:
            return home_slot(event.thread.thread_id, self._desk.slots)
        assert isinstance(event, Answer | Operation)
        assert event.approval_id is not None
        return home_of_id(event.approval_id, self._desk.slots)

    def _apply(self, event: Input, record: Record, source: str) -> None:
        key = self.draft.key_of(event)
        if self._concerns_nobody(event, key, source):
            return
        thread = self.draft.thread(key)
        if not source:
            source = _source_of(event, thread)
        if isinstance(event, Interrupted):
            newest = thread.runs[-1] if thread.runs else None
            known = next((run for run in thread.runs if run.is_open), newest)
            protocol = self._desk.source(record).protocol
            event = protocol.complete(event, known, body_of(thread.carry, ""))
        thread = self.draft.with_early(thread, event)
        self._emit(self._decide(key, thread, event, source), record, source)

    def _concerns_nobody(self, event: Input, key: bytes, source: str) -> bool:
        """Whether it is about what a thread holds, and the thread holds nothing."""
        match event:
            case RunStarted() | ResumeAnswered() | ResumeSeen() | WentOn() | ThreadEnded():
                nobody, lost = not self.draft.knows(key), False
            case RunFailed():
                nobody, lost = not self.draft.knows(key), not self.draft.carries(key)
            case Patch():
                nobody = lost = not self.draft.carries(key)
            case Drop() | Outdate() | RunEnded():
                nobody, lost = not self.draft.carries(key), False
            case _:
                return False
        if nobody and lost:
            self.counts["unattributable", source] += 1
        return nobody

    def _decide(self, key: bytes, thread: Thread, event: Input, source: str) -> Iterable[Effect]:
        room = self.draft.parked_room(self._desk.limits)
        decision = decide(thread, event, self._now, self._desk.rules(source, room))
        self.draft.settle(key, thread, decision.thread)
        return decision.effects

    def _emit(self, effects: Iterable[Effect], record: Record, source: str) -> None:
        trace = trace_context(record.headers) if record.headers else ()
        encoding = self._desk.encoding
        for effect in effects:
            match effect:
                case Publish():
                    said = approval(effect.run, effect.index)
                    self.outgoing.append(publish(said, trace, encoding))
                    self._note_closed(effect.run, effect.index)
                case Judged():
                    self.outgoing.append(publish(verdict(effect), trace, encoding))
                    self.counts["answers", effect.verdict] += 1
                case Resume():
                    self.outgoing.append(publish(command(effect), trace, encoding))
                case DeadLetter():
                    self._bury(effect, record, source)
                case Forget():
                    self.outgoing.extend(forget_records(effect.run))
                case Counted():
                    self._count(effect)

    def _note_closed(self, run: Run, index: int) -> None:
        """Count a question once in the cycle that closes it, and its run with its first one."""
        item = run.items[index]
        if index == 0 and run.outcome is not None:
            self.counts["runs_closed", run.outcome] += 1
        if item.closed_at == self._now and (run.thread, run.run_id, index) not in self._closed:
            self._closed.add((run.thread, run.run_id, index))
            self.ages.append((self._now - run.published_at) / 1000)
            if item.status == "expired":
                self.counts["expired", run.thread.source] += 1

    def _bury(self, letter: DeadLetter, record: Record, source: str) -> None:
        if letter.run is not None:
            key = letter.run.thread.thread_id.encode()
            record = Record(value=None, key=key, headers=(), origin=letter.run.origin)
        self.outgoing.append(dead_letter(record, letter.refusal, source, self._desk.limits))
        self.counts["dead_letters", letter.refusal.reason] += 1

    def _count(self, counted: Counted) -> None:
        self.counts[counted.metric, counted.label] += 1


def _source_of(event: Input, thread: Thread) -> str:
    """Whose rules an answer or an operation falls under; empty where nobody knows yet."""
    if thread.runs:
        return thread.runs[0].thread.source
    named = None if isinstance(event, Tick) else event.thread
    return "" if named is None else named.source


_NO_RECORD = Record(value=None, key=None, headers=(), origin=Origin("", 0, 0, 0))
"""Stands in for the record where time is the input; a timer's dead letter names its run."""
