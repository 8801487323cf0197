"""One tenure of a slot: opened in one order and no other, then served cycle by cycle.

All that a failure makes worthless lives here: producer, ledger, clock, input positions. A tenure
is never mended; the slot begins a new one from the log.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Final

from aiokafka.structs import ConsumerRecord, TopicPartition

from bridge.core.model import Millis, Origin
from bridge.core.record import Record
from bridge.errors import SourceNotConfigured
from bridge.kafka import identity
from bridge.kafka.clock import BrokerClock
from bridge.kafka.intake import Intake, Positions, Seen
from bridge.kafka.leftovers import settle
from bridge.kafka.names import transactional_id
from bridge.kafka.output_watch import OutputWatch
from bridge.kafka.restore import restore
from bridge.kafka.setup import SlotSetup, takeover_marks
from bridge.kafka.transaction import OUTPUTS, Committed, SlotProducer, untimed
from bridge.kafka.verdict import Verdicts
from bridge.observe.slot_figures import SlotFigures, SlotState
from bridge.records.outgoing import Outgoing
from bridge.records.reroute import original
from bridge.slot import state_codec as codec
from bridge.slot.cycle import Cycle
from bridge.slot.desk import Desk
from bridge.slot.draft import Draft
from bridge.slot.ledger import Ledger

log = logging.getLogger(__name__)

StateRecords = list[tuple[bytes, bytes | None]]
"""Keys and values for the state partition; None is a tombstone."""

_POLL_MS: Final = 200  # also how long a request to stop may wait for an idle poll
_TURN: Final = 50  # inputs, some 5 ms, after which the other slots of the worker get a turn
_TIMERS_SHARE: Final = 10  # timers get at least this part of a cycle, however much comes in
_TOP_UP_MS: Final = 5  # a fetch of what lies ready takes one or two
_OLDEST_S: Final = 15.0  # a scrape interval; 100,000 runs take about 50 ms to look through
_QUIET_S: Final = 1.0  # positions alone are worth a transaction this often


class Tenure:
    """Open it once, serve until told to stop, close it whatever happened."""

    def __init__(
        self,
        desk: Desk,
        setup: SlotSetup,
        clock: BrokerClock,
        verdicts: Verdicts,
        remembered: identity.Remembered,
    ) -> None:
        """`clock`, `verdicts` and `remembered` are the slot's: what they know outlives a tenure."""
        self._desk = desk
        self._setup = setup
        self._clock = clock
        self._slot = desk.slot
        self._state = TopicPartition(setup.topics["state"], desk.slot)
        self._remembered = remembered
        self._watched_at = time.monotonic()
        self._ledger = Ledger()
        self._producer = SlotProducer(
            setup.client,
            transactional_id(setup.app_id, setup.topics["state"], desk.slot),
            desk.slot,
            setup.topics,
            verdicts=verdicts,
            on_stamp=clock.learn,
            deadline=setup.times.transaction_deadline,
            timeout=setup.times.transaction_timeout,
        )
        self._watch = OutputWatch(self._producer)
        self._intake = Intake(
            setup.client, setup.inputs, desk.slot, desk.slots, setup.times.refresh, setup.waiting
        )
        self._committed: Positions = {}
        self._committed_at = time.monotonic()
        self._ends: Positions = {}
        self._holding = True
        self._hold_until: Millis = 0
        self._oldest_seen: tuple[dict[str, Millis], Millis | None] = ({}, None)
        self._looked_at = 0.0
        self.state: SlotState = "opening"

    async def open(self) -> None:
        """Fence, then read, never the other way (R1)."""
        await self._producer.start()  # 1: fences the predecessor, settles its open transaction
        for end, partitions in (await settle(self._producer)).items():
            self._setup.metrics.count("leftovers", end, len(partitions))
        self.state = "restoring"
        await self._restore()  # 2, 3: to the high watermark that fencing has fixed
        if self._ledger.births.first is None:
            await self._begin_life()
        self._check_sources()
        self.state = "opening"  # what is missing now is an answer, not reading
        seen = self._seen()
        await self._intake.open(seen, self._producer.partition_counts)  # 4: positions
        marks = takeover_marks(self._slot)
        taken = await self._write(self._takeover(), marks)  # 5: the takeover record (R2)
        if not self._clock.is_set:
            raise untimed(self._setup.topics["state"], taken)
        self._producer.verdicts.forget()
        self._ends = await self._intake.end_offsets()  # 6: from here on, inputs
        self._hold_until = self._clock.now() + self._setup.times.takeover_grace
        self.state = "catching_up"

    async def _restore(self) -> None:
        ledger = self._ledger

        def fold(batch: Sequence[ConsumerRecord]) -> None:
            for record in batch:
                ledger.fold(record.key, record.value)

        topics, slot = self._setup.topics, self._slot
        outputs = [TopicPartition(topics[role], slot) for role in OUTPUTS]
        done = await restore(self._setup.client, topics["state"], slot, fold, written=outputs)
        ledger.restored()
        self._setup.metrics.restored(done.records, done.seconds)
        birth = ledger.births.first
        if birth is not None:
            slots, app_id = self._desk.slots, self._setup.app_id
            identity.check(birth, self._state, app_id, slots, topics["reroute"])
            self._remembered.restored(self._state, birth, done.high_watermark)

    async def _begin_life(self) -> None:
        """Claim the partition, then read back who was first. Raises StateLost."""
        setup = self._setup
        new = identity.new_birth(setup.deployment(), setup.app_id, self._desk.slots, setup.topics)
        self._remembered.note(self._state, 0)
        await identity.claim(setup.client, self._producer, setup.topics, self._slot, new)
        self._ledger = Ledger()
        await self._restore()

    def _check_sources(self) -> None:
        for source, waiting in sorted(self._ledger.pending.items()):
            if waiting and not self._desk.knows(source):
                raise SourceNotConfigured(
                    f"sources: {source} has open runs in slot {self._slot} and is not configured. "
                    "Configure it again, or withdraw its runs first."
                )

    def _seen(self) -> Seen:
        meta = self._ledger.meta
        return Seen(
            positions={TopicPartition(*at): n for at, n in self._ledger.positions.items()},
            partitions=meta.partitions_seen if meta else {},
        )

    def _takeover(self) -> StateRecords:
        meta = codec.Meta(partitions_seen=dict(self._intake.partitions))
        return [(codec.META_KEY, codec.encode_meta(meta)), *self._positions(everything=True)]

    # --- Serving ------------------------------------------------------------------------------

    async def serve(self, stopping: asyncio.Event) -> None:
        """Cycle after cycle until `stopping` is set; raises what ends the tenure."""
        worked = False
        while not stopping.is_set():
            began = time.monotonic()
            worked = await self._cycle(await self._gather(worked))
            if await self._intake.refresh():
                await self._write(self._takeover())
            await self._watch_state()
            if self._holding:
                self._end_hold()
            await self._free_readers()
            if worked:
                await asyncio.sleep(self._setup.times.pace - (time.monotonic() - began))

    async def _free_readers(self) -> None:
        """All that this tenure wrote was committed, or it would have ended."""
        if stuck := await self._watch.stuck():
            await self._producer.end_open(stuck, "commit")
            self._setup.metrics.count("leftovers", "commit", len(stuck))

    async def _gather(self, busy: bool) -> Sequence[ConsumerRecord]:
        """What there is to work on; a busy slot also takes what came while it was at work.

        The client fetches nothing more while something is unread, so the fetch that waited during
        the last cycle brought little, and the one that this poll sets free brings the rest.
        """
        wait = _POLL_MS if not self._due_at_once() else 0
        polled = await self._intake.poll(wait, self._setup.cycle_max)
        if busy and 0 < len(polled) < self._setup.cycle_max:
            more = await self._intake.poll(_TOP_UP_MS, self._setup.cycle_max - len(polled))
            return [*polled, *more]
        return polled

    async def _cycle(self, polled: Sequence[ConsumerRecord]) -> bool:
        """One transaction, if there is anything to write; whether there was."""
        now = self._clock.now()
        draft = Draft(self._ledger)
        cycle = Cycle(self._desk, draft, now)
        for number, record in enumerate(self._in_order(polled)):
            cycle.take(record)
            if number % _TURN == _TURN - 1:
                await asyncio.sleep(0)
        self._fire(cycle, now, len(polled))
        writes = list(draft.writes())
        worth = bool(cycle.outgoing or writes) or self._must_write()
        if worth:
            await self._write([*writes, *self._positions()], cycle.outgoing)
            draft.fold(writes)
        self._count(cycle, polled)
        return worth

    async def _write(self, state: StateRecords, outgoing: Sequence[Outgoing] = ()) -> Committed:
        """One transaction; memory may take the changes only after it has committed."""
        began = time.monotonic()
        records = [*outgoing, *(Outgoing("state", key, value) for key, value in state)]
        committed = await self._producer.commit(records)
        self._committed = dict(self._intake.positions)
        self._committed_at = time.monotonic()
        self._setup.metrics.committed(self._committed_at - began)
        if committed.offset is not None:
            self._remembered.note(self._state, committed.offset + 1)
        return committed

    async def _watch_state(self) -> None:
        """Now and then: a slot with nothing to write would not notice that its state is gone, or
        that somebody else wrote there; if that fenced it, its next write tells.
        """
        if time.monotonic() - self._watched_at < self._setup.times.refresh:
            return
        await self._producer.partition_counts([self._state.topic])
        end, own = await self._intake.end_of(self._state), self._remembered.end + 1  # its marker
        self._remembered.note(self._state, end)
        self._watched_at = time.monotonic()
        if end > own:
            await self._write(self._positions())

    def _in_order(self, polled: Sequence[ConsumerRecord]) -> list[Record]:
        """Run events before answers, in the order of each partition otherwise."""
        taken = []
        reroute = self._setup.topics["reroute"]
        for r in polled:
            record = Record(
                r.value, r.key, r.headers, Origin(r.topic, r.partition, r.offset, r.timestamp)
            )
            taken.append(original(record) if r.topic == reroute else record)
        return sorted(taken, key=lambda record: self._desk.kind(record) != "event")

    def _fire(self, cycle: Cycle, now: Millis, polled: int) -> None:
        """What is due, `reroute_grace` late so that an answer on its way home comes first."""
        if self._holding:
            return
        most = max(self._setup.cycle_max - polled, self._setup.cycle_max // _TIMERS_SHARE)
        until = now - self._setup.times.reroute_grace
        timers = self._ledger.timers
        while most > 0 and (entry := timers.due(until)) is not None:
            if self._ledger.is_due(entry[1], until):
                cycle.fire(entry[1], until)
                most -= 1

    def _end_hold(self) -> None:
        """Timers wait after a takeover for the answers that were on the topics before it."""
        if self.state == "catching_up" and self._intake.reached(self._ends):
            self.state = "serving"
        self._holding = self.state != "serving" or self._clock.now() < self._hold_until

    def _due_at_once(self) -> bool:
        until = self._clock.now() - self._setup.times.reroute_grace
        first = self._ledger.timers.next_at()
        return not self._holding and first is not None and first <= until

    def _must_write(self) -> bool:
        """Positions alone wait a second for company; an idle slot writes a heartbeat (R10)."""
        quiet = time.monotonic() - self._committed_at
        if self._intake.positions != self._committed:
            return quiet > _QUIET_S
        return quiet > self._setup.times.heartbeat

    def _positions(self, everything: bool = False) -> StateRecords:
        moved: StateRecords = [
            (codec.position_key(tp.topic, tp.partition), codec.encode_position(offset))
            for tp, offset in self._intake.positions.items()
            if everything or self._committed.get(tp) != offset
        ]
        if moved or not self._intake.positions:
            return moved
        tp, offset = next(iter(self._intake.positions.items()))
        return [(codec.position_key(tp.topic, tp.partition), codec.encode_position(offset))]

    def _count(self, cycle: Cycle, polled: Sequence[ConsumerRecord]) -> None:
        for origin, error in cycle.defects:
            extra = {"origin": str(origin)}
            log.error("record could not be processed", exc_info=error, extra=extra)
        for record in polled:
            cycle.counts["consumed", record.topic] += 1
        for out in cycle.outgoing:
            cycle.counts["produced", self._setup.topics[out.topic]] += 1
        self._setup.metrics.add(cycle.counts)
        self._setup.metrics.ages(cycle.ages)

    async def close(self) -> None:
        """Give the slot up: between transactions orderly, else at once and without a word."""
        self.state = "closing"
        await self._producer.close()
        await self._intake.close()

    # --- Figures ------------------------------------------------------------------------------

    @property
    def unheard(self) -> float:
        """Seconds since a broker last answered a fetch of the inputs."""
        return self._intake.unheard

    @property
    def pending(self) -> int:
        """Open interrupts."""
        return self._ledger.pending.total()

    def figures(self) -> SlotFigures:
        """What a scrape shows of this slot."""
        ledger, clock = self._ledger, self._clock
        open_since, resumed_since = self._oldest()
        return SlotFigures(
            state=self.state,
            pending=ledger.pending,
            oldest_pending={source: clock.age_seconds(at) for source, at in open_since.items()},
            oldest_unconfirmed=0 if resumed_since is None else clock.age_seconds(resumed_since),
            unconfirmed=ledger.unconfirmed,
            parked=ledger.parked_count,
            timers=len(ledger.timers),
            timers_held=ledger.timers.overdue(clock.now()) if self._holding else 0,
            lag=self._intake.lag(),
            input_blocked=self._intake.blocked(),
            output_blocked=self._watch.blocked(),
        )

    def _oldest(self) -> tuple[dict[str, Millis], Millis | None]:
        """Looked up at most every few seconds: it takes a look at every run."""
        if time.monotonic() - self._looked_at > _OLDEST_S:
            self._oldest_seen, self._looked_at = self._ledger.oldest(), time.monotonic()
        return self._oldest_seen
