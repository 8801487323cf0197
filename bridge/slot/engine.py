"""The engine of a slot: records in, one transaction's worth of work out; committed, it is memory.

It has no clock: every instant is broker time in milliseconds, handed in as `now`, and never goes
backwards. Whoever owns the producer fences, reads the log into the engine, writes what it works
out, and tells it what was committed. After any failure it is dropped and begun anew from the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from bridge.core.model import Millis
from bridge.core.record import Record
from bridge.errors import SourceNotConfigured
from bridge.records.reroute import original
from bridge.slot import state_codec as codec
from bridge.slot.cycle import Cycle
from bridge.slot.desk import Desk
from bridge.slot.ledger import Ledger
from bridge.slot.work import Place, Progress, StateRecord, Work

_TIMERS_SHARE: Final = 10  # timers get at least this part of a cycle, however much comes in
_QUIET: Final = 1_000  # milliseconds; positions alone are worth a transaction this often

_NOWHERE: Final[Mapping[Place, int]] = {}


class EngineTimes(msgspec.Struct, frozen=True, kw_only=True):
    """In milliseconds of broker time.

    `reroute_grace` is how late timers fire, so that an answer on its way home comes first;
    `takeover_grace` how long they wait at least after a takeover; `heartbeat` how often a slot
    with nothing to say writes a position (R10).
    """

    heartbeat: Millis = 3_600_000
    reroute_grace: Millis = 2_000
    takeover_grace: Millis = 30_000


class Engine:
    """One slot from a takeover to whatever ends it.

    In this order: `fold` the state partition and call it `restored`; commit a `takeover`; say that
    it is `opened`; then work, cycle after cycle. Each work that is worth it is to be committed and
    then reported as `committed` before the next one begins.
    """

    def __init__(self, desk: Desk, times: EngineTimes | None = None, cycle_max: int = 500) -> None:
        """`cycle_max`: inputs, timers and tombstones in one transaction."""
        self.ledger = Ledger()  # what is known, for reading
        self.times = times or EngineTimes()
        self.held_until: Millis = 0  # timers wait until then at least
        self.is_caught_up = False  # whether its inputs are read to where they ended at takeover
        self._desk = desk
        self._cycle_max = cycle_max
        self._is_holding = True
        self._ends: Mapping[Place, int] = {}
        self._committed_at: Millis = 0

    # --- The log ------------------------------------------------------------------------------

    def fold(self, records: Iterable[tuple[bytes | None, bytes | None]]) -> None:
        """Take over records of the state partition, in order. Raises StateFormatNewer."""
        fold = self.ledger.fold
        for key, value in records:
            fold(key, value)

    def restored(self) -> None:
        """The log is read to the end that fencing has fixed."""
        self.ledger.restored()

    def check_sources(self) -> None:
        """Raises SourceNotConfigured where runs are open of a source that nobody reads here."""
        for source, waiting in sorted(self.ledger.pending.items()):
            if waiting and not self._desk.knows(source):
                raise SourceNotConfigured(
                    f"sources: {source} has open runs in slot {self._desk.slot} and is not "
                    "configured. Configure it again, or withdraw its runs first."
                )

    # --- Taking over --------------------------------------------------------------------------

    @staticmethod
    def takeover(partitions: Mapping[str, int], positions: Mapping[Place, int]) -> Work:
        """Where reading goes on, all of it, and how many partitions each input topic has."""
        meta = codec.Meta(partitions_seen=dict(partitions))
        stored = (_stored(place, offset) for place, offset in positions.items())
        return Work(state=[(codec.META_KEY, codec.encode_meta(meta)), *stored])

    def opened(self, now: Millis, ends: Mapping[Place, int]) -> None:
        """From here on inputs are read; `ends` are their ends now.

        Timers wait until all that is read, and for `takeover_grace`: so the answers that were on
        the topics before the takeover come first, hops included.
        """
        self._ends = ends
        self.held_until = now + self.times.takeover_grace

    # --- Working ------------------------------------------------------------------------------

    def begin(
        self,
        records: Sequence[Record],
        positions: Mapping[Place, int],
        now: Millis,
        paused: frozenset[str] = frozenset(),
    ) -> Progress:
        """A cycle over these records and what is due.

        `records` are as they were read, at most `cycle_max`; `positions` are where reading goes on
        behind them; `paused` topics are not read now, and nobody waits for them.
        """
        reroute = self._desk.reroute
        unwrapped = [original(r) if r.origin.topic == reroute else r for r in records]
        unwrapped.sort(key=lambda record: self._desk.kind(record) != "event")
        cycle = Cycle(self._desk, self.ledger, now)
        if self._is_holding:
            self._end_hold(positions, now, paused)
        return Progress(
            unwrapped, cycle.take, partial(self._finish, cycle, len(records), positions, now)
        )

    def work(
        self,
        records: Sequence[Record] = (),
        positions: Mapping[Place, int] = _NOWHERE,
        now: Millis = 0,
        paused: frozenset[str] = frozenset(),
    ) -> Work:
        """The same in one go."""
        return self.begin(records, positions, now, paused).finish()

    def heartbeat(self, positions: Mapping[Place, int]) -> Work:
        """What has moved, or one position that has not: something to write in any case."""
        return Work(state=self._positions(positions))

    def committed(self, work: Work, now: Millis) -> None:
        """The work's transaction has committed: memory takes what the log has, in the same way."""
        self.fold(work.state)
        for thread, runs in work.decoded.items():
            self.ledger.keep_decoded(thread, runs)
        self._committed_at = now

    def is_due(self, now: Millis) -> bool:
        """Whether a timer is to fire at once, so that waiting for inputs would be wrong."""
        at = self.next_due
        return at is not None and at <= now

    @property
    def next_due(self) -> Millis | None:
        """When the next timer fires, if no input comes before; None while timers are held."""
        at = None if self._is_holding else self.ledger.timers.next_at()
        return None if at is None else at + self.times.reroute_grace

    def timers_held(self, now: Millis) -> int:
        """How many timers are due and wait after the takeover."""
        return self.ledger.timers.overdue(now) if self._is_holding else 0

    def _end_hold(
        self, positions: Mapping[Place, int], now: Millis, paused: frozenset[str]
    ) -> None:
        """The records of this cycle are taken before its timers, so they count as read."""
        if not self.is_caught_up:
            self.is_caught_up = all(
                positions[place] >= end
                for place, end in self._ends.items()
                if place[0] not in paused
            )
        self._is_holding = not self.is_caught_up or now < self.held_until

    def _finish(
        self, cycle: Cycle, taken: int, positions: Mapping[Place, int], now: Millis
    ) -> Work:
        if not self._is_holding:
            self._fire(cycle, taken, now - self.times.reroute_grace)
        state = list(cycle.draft.writes())
        # Positions alone wait a second for company; an idle slot writes a heartbeat (R10).
        quiet = now - self._committed_at
        if cycle.outgoing or state or quiet > max(_QUIET, self.times.heartbeat):
            state += self._positions(positions)
        elif quiet > _QUIET:
            state += self._moved(positions)
        return Work(
            outgoing=cycle.outgoing,
            state=state,
            counts=cycle.counts,
            ages=cycle.ages,
            defects=cycle.defects,
            decoded=cycle.draft.decoded(),
        )

    def _fire(self, cycle: Cycle, taken: int, until: Millis) -> None:
        most = max(self._cycle_max - taken, self._cycle_max // _TIMERS_SHARE)
        timers = self.ledger.timers
        while most > 0 and (entry := timers.due(until)) is not None:
            if self.ledger.is_due(entry[1], until):
                cycle.fire(entry[1], until)
                most -= 1

    def _moved(self, positions: Mapping[Place, int]) -> list[StateRecord]:
        stored = self.ledger.positions
        return [_stored(at, n) for at, n in positions.items() if stored.get(at) != n]

    def _positions(self, positions: Mapping[Place, int]) -> list[StateRecord]:
        """What has moved, else one that has not: each transaction teaches the slot the time."""
        first = list(positions.items())[:1]
        return self._moved(positions) or [_stored(place, offset) for place, offset in first]


def _stored(place: Place, offset: int) -> StateRecord:
    return codec.position_key(*place), codec.encode_position(offset)
