"""One tenure of a slot: opened in one order and no other, then served cycle by cycle.

All that a failure makes worthless lives here: producer, engine, clock, input positions. A tenure
is never mended; the slot begins a new one from the log. What a cycle writes is the engine's; the
fence, the reading, the committing and the pace are here.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Final

from aiokafka.structs import ConsumerRecord, TopicPartition

from bridge.core.model import Millis
from bridge.kafka import identity
from bridge.kafka.clock import BrokerClock
from bridge.kafka.intake import Intake, Seen
from bridge.kafka.leftovers import settle
from bridge.kafka.names import transactional_id
from bridge.kafka.output_watch import OutputWatch
from bridge.kafka.reader import record_of
from bridge.kafka.restore import restore
from bridge.kafka.setup import SlotSetup, takeover_marks
from bridge.kafka.transaction import Committed, SlotProducer, untimed
from bridge.kafka.verdict import Verdicts
from bridge.observe.slot_figures import SlotFigures, SlotState
from bridge.records.outgoing import Outgoing
from bridge.records.topics import OUTPUTS
from bridge.slot.desk import Desk
from bridge.slot.engine import Engine
from bridge.slot.ledger import Ledger
from bridge.slot.work import Work

log = logging.getLogger(__name__)

_POLL_MS: Final = 200  # also how long a request to stop may wait for an idle poll
_TURN: Final = 50  # inputs, some 5 ms, after which the other slots of the worker get a turn
_TOP_UP_MS: Final = 5  # a fetch of what lies ready takes one or two
_OLDEST_S: Final = 15.0  # a scrape interval; 100,000 runs take about 50 ms to look through


class Tenure:
    """Open it once, serve until stopped, close it whatever happened."""

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
        self.slot = desk.slot
        self._state = TopicPartition(setup.topics["state"], desk.slot)
        self._remembered = remembered
        self._watched_at = time.monotonic()
        self._engine = self._new_engine()
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
        if self.ledger.births.first is None:
            await self._begin_life()
        self._engine.check_sources()
        self.state = "opening"  # what is missing now is an answer, not reading
        intake, meta = self._intake, self.ledger.meta
        positions = {TopicPartition(*at): n for at, n in self.ledger.positions.items()}
        seen = Seen(positions, meta.partitions_seen if meta else {})
        await intake.open(seen, self._producer.partition_counts)  # 4: positions
        takeover = self._engine.takeover(intake.partitions, intake.positions)
        taken = await self._commit(takeover, takeover_marks(self.slot))  # 5: its record (R2)
        if not self._clock.is_set:
            raise untimed(self._setup.topics["state"], taken)
        self._producer.verdicts.forget()
        ends = await intake.end_offsets()  # 6: from here on, inputs
        self._engine.opened(self._clock.now(), ends)
        self.state = "catching_up"

    def _new_engine(self) -> Engine:
        return Engine(self._desk, self._setup.times.engine, self._setup.cycle_max)

    async def _restore(self) -> None:
        engine = self._engine

        def fold(batch: Sequence[ConsumerRecord]) -> None:
            engine.fold((record.key, record.value) for record in batch)

        topics, slot = self._setup.topics, self.slot
        outputs = [TopicPartition(topics[role], slot) for role in OUTPUTS]
        done = await restore(self._setup.client, topics["state"], slot, fold, written=outputs)
        engine.restored()
        self._setup.metrics.restored(done.records, done.seconds)
        birth = engine.ledger.births.first
        if birth is not None:
            slots, app_id = self._desk.slots, self._setup.app_id
            identity.check(birth, self._state, app_id, slots, topics["reroute"])
            self._remembered.restored(self._state, birth, done.high_watermark)

    async def _begin_life(self) -> None:
        """Claim the partition, then read back who was first. Raises StateLost."""
        setup = self._setup
        new = identity.new_birth(setup.deployment(), setup.app_id, self._desk.slots, setup.topics)
        self._remembered.note(self._state, 0)
        await identity.claim(setup.client, self._producer, setup.topics, self.slot, new)
        self._engine = self._new_engine()
        await self._restore()

    # --- Serving ------------------------------------------------------------------------------

    async def serve(self, stopping: asyncio.Event) -> None:
        """Cycle after cycle until `stopping` is set; raises what ends the tenure."""
        worked = False
        while not stopping.is_set():
            began = time.monotonic()
            worked = await self._cycle(await self._gather(worked))
            if await self._intake.refresh():
                seen, positions = self._intake.partitions, self._intake.positions
                await self._commit(self._engine.takeover(seen, positions))
            await self._watch_state()
            if stuck := await self._watch.stuck():
                # All that this tenure wrote was committed, or it would have ended.
                await self._producer.end_open(stuck, "commit")
                self._setup.metrics.count("leftovers", "commit", len(stuck))
            if worked:
                await asyncio.sleep(self._setup.times.pace - (time.monotonic() - began))

    async def _gather(self, busy: bool) -> Sequence[ConsumerRecord]:
        """What there is to work on; a busy slot also takes what came while it was at work.

        The client fetches nothing more while something is unread, so the fetch that waited during
        the last cycle brought little, and the one that this poll sets free brings the rest.
        """
        wait = 0 if self._engine.is_due(self._clock.now()) else _POLL_MS
        polled = await self._intake.poll(wait, self._setup.cycle_max)
        if busy and 0 < len(polled) < self._setup.cycle_max:
            more = await self._intake.poll(_TOP_UP_MS, self._setup.cycle_max - len(polled))
            return [*polled, *more]
        return polled

    async def _cycle(self, polled: Sequence[ConsumerRecord]) -> bool:
        """One transaction, if there is anything to write; whether there was."""
        records = [record_of(each) for each in polled]
        intake, now = self._intake, self._clock.now()
        cycle = self._engine.begin(records, intake.positions, now, intake.paused)
        for _ in cycle.turns(_TURN):
            await asyncio.sleep(0)
        work = cycle.finish()
        if work.is_worth_it:
            await self._commit(work)
        if self.state == "catching_up" and self._engine.is_caught_up:
            self.state = "serving"
        self._count(work, polled)
        return work.is_worth_it

    async def _commit(self, work: Work, marks: Sequence[Outgoing] = ()) -> Committed:
        """One transaction; memory may take the changes only after it has committed."""
        began = time.monotonic()
        committed = await self._producer.commit([*marks, *work.records])
        self._engine.committed(work, self._clock.now())
        self._setup.metrics.committed(time.monotonic() - began)
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
            await self._commit(self._engine.heartbeat(self._intake.positions))

    def _count(self, work: Work, polled: Sequence[ConsumerRecord]) -> None:
        for origin, error in work.defects:
            extra = {"origin": str(origin)}
            log.error("record could not be processed", exc_info=error, extra=extra)
        for record in polled:
            work.counts["consumed", record.topic] += 1
        for out in work.outgoing:
            work.counts["produced", self._setup.topics[out.topic]] += 1
        self._setup.metrics.add(work.counts)
        self._setup.metrics.ages(work.ages)

    async def close(self) -> None:
        """Give the slot up: between transactions orderly, else at once and without a word."""
        self.state = "closing"
        await self._producer.close()
        await self._intake.close()

    # --- Figures ------------------------------------------------------------------------------

    @property
    def ledger(self) -> Ledger:
        """What it knows of its state; another one after the first life of a slot has begun."""
        return self._engine.ledger

    @property
    def unheard(self) -> float:
        """Seconds since a broker last answered a fetch of the inputs."""
        return self._intake.unheard

    @property
    def pending(self) -> int:
        """Open interrupts."""
        return self.ledger.pending.total()

    def figures(self) -> SlotFigures:
        """What a scrape shows of this slot."""
        ledger, clock = self.ledger, self._clock
        if time.monotonic() - self._looked_at > _OLDEST_S:  # a look at every run
            self._oldest_seen, self._looked_at = ledger.oldest(), time.monotonic()
        open_since, resumed_since = self._oldest_seen
        return SlotFigures(
            state=self.state,
            pending=ledger.pending,
            oldest_pending={source: clock.age_seconds(at) for source, at in open_since.items()},
            oldest_unconfirmed=0 if resumed_since is None else clock.age_seconds(resumed_since),
            unconfirmed=ledger.unconfirmed,
            parked=ledger.parked_count,
            timers=len(ledger.timers),
            timers_held=self._engine.timers_held(clock.now()),
            lag=self._intake.lag(),
            input_blocked=self._intake.blocked(),
            output_blocked=self._watch.blocked(),
        )
