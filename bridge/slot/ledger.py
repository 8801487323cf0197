"""What a slot knows: the fold of its state partition, values kept as bytes.

Restore and commit fold records by the same code, so memory cannot differ from the log. A thread
is one dictionary entry with its runs as they were encoded; nothing is decoded until it is touched.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator
from typing import Final, NamedTuple

from bridge.core.model import Carried, Millis, Parked, Run
from bridge.slot import birth
from bridge.slot import state_codec as codec
from bridge.slot.timers import Timers

Runs = bytes | list[bytes]
"""One encoded run, or several: most threads have one, and a list for it would cost 64 bytes."""

_RECENT: Final = 4_096
"""Threads kept decoded: an answer mostly comes soon after its question."""

MOST_POINTLESS: Final = 10_000
"""Timers that may stand in the heap although nothing is due then."""

_PARKED_MARK = b"p"


def is_parked_timer(key: bytes) -> bool:
    """A timer names a thread (16 bytes) or, marked, a parked answer's approval id (17 bytes)."""
    return len(key) == 17


class Contents(NamedTuple):
    """The values of a ledger: runs and context by thread (16 bytes), the rest by approval id."""

    threads: dict[bytes, tuple[bytes, ...]]
    approvals: dict[bytes, bytes]
    parked: dict[bytes, bytes]
    carried: dict[bytes, bytes]


class Ledger:
    """Runs by thread, approval ids, early answers, carried context, positions and timers."""

    def __init__(self) -> None:
        self._threads: dict[bytes, Runs] = {}
        self._approvals: dict[bytes, bytes] = {}
        self._parked: dict[bytes, bytes] = {}
        self._carried: dict[bytes, bytes] = {}
        self._recent: OrderedDict[bytes, tuple[Run, ...]] = OrderedDict()
        self.positions: dict[tuple[str, int], int] = {}
        self.meta: codec.Meta | None = None
        self.births = birth.Births()
        self.timers = Timers()
        self._most_timers = 0
        self._pending: Counter[bytes] = Counter()
        self.unconfirmed = 0
        self.parked_count = 0
        self.parked_bytes = 0

    # --- Folding the log ----------------------------------------------------------------------

    def fold(self, key: bytes | None, value: bytes | None) -> None:
        """Take over one record of the state partition. Raises StateFormatNewer."""
        if key is None:
            return
        if key.startswith(codec.RUN_PREFIX):
            self._fold_run(key, value)
        elif key.startswith(codec.POSITION_PREFIX):
            self._fold_position(key, value)
        elif key.startswith(codec.PARKED_PREFIX):
            self._fold_parked(bytes.fromhex(key[len(codec.PARKED_PREFIX) :].decode()), value)
        elif key.startswith(codec.CARRY_PREFIX):
            self._fold_carry(bytes.fromhex(key[len(codec.CARRY_PREFIX) :].decode()), value)
        elif key.startswith(birth.PREFIX):
            self.births.fold(key, value)
        elif key == codec.META_KEY and value is not None:
            self.meta = codec.decode_meta(value)

    def restored(self) -> None:
        """The log is read: what was only collected so far is put in order."""
        self.timers.order()

    def _fold_run(self, key: bytes, value: bytes | None) -> None:
        thread = codec.thread_of_key(key)
        if self._recent:
            self._recent.pop(thread, None)
        if value is None:
            self._forget_run(thread, codec.command_of_key(key))
            return
        due, waiting, unconfirmed, approvals, source = codec.file_marks(value)
        old = self._replace(thread, approvals[:16], value)
        if old is not None:
            self._tally(old, -1)
        elif len(approvals) == 16:
            self._approvals[approvals] = thread
        else:
            for at in range(0, len(approvals), 16):
                self._approvals[approvals[at : at + 16]] = thread
        self.unconfirmed += unconfirmed
        if waiting:
            self._pending[source] += waiting
        if due != codec.NO_TIMER:
            self._wake(due, thread)

    def _replace(self, thread: bytes, first: bytes, value: bytes) -> bytes | None:
        """File the value under its thread; the value it replaces, if there was one.

        A run is told from its siblings by its first approval id, which no other run has.
        """
        runs = self._threads.get(thread)
        if runs is None:
            self._threads[thread] = value
            return None
        if isinstance(runs, bytes):
            if codec.peek_approvals(runs)[:16] == first:
                self._threads[thread] = value
                return runs
            self._threads[thread] = [runs, value]
            return None
        for index, old in enumerate(runs):
            if codec.peek_approvals(old)[:16] == first:
                runs[index] = value
                return old
        runs.append(value)
        return None

    def _forget_run(self, thread: bytes, command: bytes) -> None:
        values = self._values(thread)
        for old in values:
            if codec.command_bytes(codec.decode_run(old)) == command:
                self._take_out(thread, old, values)

    def _take_out(self, thread: bytes, old: bytes, values: tuple[bytes, ...]) -> None:
        left = [value for value in values if value is not old]
        if left:
            self._threads[thread] = left[0] if len(left) == 1 else left
        else:
            del self._threads[thread]
        self._tally(old, -1)
        approvals = codec.peek_approvals(old)
        for at in range(0, len(approvals), 16):
            self._approvals.pop(approvals[at : at + 16], None)

    def _tally(self, value: bytes, sign: int) -> None:
        _, waiting, unconfirmed, _, source = codec.file_marks(value)
        self.unconfirmed += sign * unconfirmed
        if waiting:
            self._pending[source] += sign * waiting

    def _fold_position(self, key: bytes, value: bytes | None) -> None:
        where = codec.read_position_key(key)
        if value is None:
            self.positions.pop(where, None)
        else:
            self.positions[where] = codec.decode_position(value)

    def _fold_parked(self, approval: bytes, value: bytes | None) -> None:
        old = self._parked.pop(approval, None)
        if old is not None:
            self.parked_count -= codec.peek_parked(old)[1]
            self.parked_bytes -= len(old)
        if value is not None:
            self._parked[approval] = value
            due, count = codec.peek_parked(value)
            self.parked_count += count
            self.parked_bytes += len(value)
            self._wake(due, _PARKED_MARK + approval)

    def _fold_carry(self, thread: bytes, value: bytes | None) -> None:
        if value is None:
            self._carried.pop(thread, None)
        else:
            self._carried[thread] = value
            self._wake(codec.carry_until(value), thread)

    def _wake(self, at: Millis, key: bytes) -> None:
        self.timers.add(at, key)
        if len(self.timers) > self._most_timers:
            self._drop_pointless_timers()

    def _drop_pointless_timers(self) -> None:
        """Most of what has a timer goes long before it would come up, and some expire in a year."""
        live = len(self._approvals) + len(self._parked) + len(self._carried)
        self._most_timers = MOST_POINTLESS + 2 * live
        if len(self.timers) > self._most_timers:
            self.timers.keep(self._stands)

    def _stands(self, at: Millis, key: bytes) -> bool:
        return at in self._dues(key)

    # --- Reading ------------------------------------------------------------------------------

    def contents(self) -> Contents:
        """All that is remembered, as it is stored: what two ledgers are compared by."""
        return Contents(
            threads={thread: self._values(thread) for thread in self._threads},
            approvals=dict(self._approvals),
            parked=dict(self._parked),
            carried=dict(self._carried),
        )

    @property
    def pending(self) -> Counter[str]:
        """Open interrupts by source."""
        return Counter({source.decode(): n for source, n in self._pending.items() if n})

    def knows(self, thread: bytes) -> bool:
        return thread in self._threads

    def thread_of(self, approval: bytes) -> bytes | None:
        """The thread of a remembered approval id (16 bytes)."""
        return self._approvals.get(approval)

    def runs(self, thread: bytes) -> tuple[Run, ...]:
        """The thread's remembered runs, decoded, in the order they were published."""
        recent = self._recent.get(thread)
        if recent is not None:
            return recent
        values = self._values(thread)
        if len(values) < 2:
            return tuple(map(codec.decode_run, values))
        return tuple(sorted(map(codec.decode_run, values), key=lambda run: run.published_at))

    def keep_decoded(self, thread: bytes, runs: tuple[Run, ...]) -> None:
        """What was just folded, as it was before it was encoded; the oldest is dropped for it."""
        if len(self._recent) >= _RECENT:
            self._recent.popitem(last=False)
        self._recent[thread] = runs

    def parked(self, approval: bytes) -> tuple[Parked, ...]:
        value = self._parked.get(approval)
        return () if value is None else codec.decode_parked(value)

    def has_carry(self, thread: bytes) -> bool:
        return thread in self._carried

    def carried(self, thread: bytes) -> tuple[Carried, ...]:
        value = self._carried.get(thread)
        return () if value is None else codec.decode_carry(value)

    def is_due(self, key: bytes, now: Millis) -> bool:
        """Whether a timer that came up still stands; most were made pointless by an answer."""
        return any(due <= now for due in self._dues(key))

    def oldest(self) -> tuple[dict[str, Millis], Millis | None]:
        """When the oldest open run of each source was published, and the oldest unconfirmed resume.

        Looks at every run: not for each scrape.
        """
        open_since: dict[str, Millis] = {}
        resumed_since: Millis | None = None
        for thread in self._threads:
            for value in self._values(thread):
                _, since, waiting, unconfirmed = codec.peek_run(value)
                if waiting:
                    source = codec.peek_source(value).decode()
                    open_since[source] = min(since, open_since.get(source, since))
                elif unconfirmed:
                    resumed_since = min(since, resumed_since or since)
        return open_since, resumed_since

    def _dues(self, key: bytes) -> Iterator[Millis]:
        """When what a timer names is due; NO_TIMER for never."""
        if is_parked_timer(key):
            parked = self._parked.get(key[1:])
            if parked is not None:
                yield codec.peek_parked(parked)[0]
            return
        for value in self._values(key):
            yield codec.peek_run(value)[0]
        if key in self._carried:
            yield codec.carry_until(self._carried[key])

    def _values(self, thread: bytes) -> tuple[bytes, ...]:
        runs = self._threads.get(thread)
        if runs is None:
            return ()
        return (runs,) if isinstance(runs, bytes) else tuple(runs)
