"""What one cycle changes, beside the ledger until its transaction has committed.

Reads go through to the ledger and are decoded once a cycle; a run that changes ten times in a
cycle is written once.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from bridge.core.announcing import asked_by
from bridge.core.answers import early_id
from bridge.core.ids import RunKey, id_bytes, key_of
from bridge.core.model import (
    Answer,
    Carried,
    Input,
    Interrupted,
    Limits,
    Operation,
    Parked,
    Run,
    RunEnded,
    Thread,
    Tick,
)
from bridge.core.sizes import early_bytes
from bridge.core.timers import next_timer
from bridge.slot import state_codec as codec
from bridge.slot.ledger import Ledger, is_parked_timer


class Draft:
    """Threads as this cycle sees and leaves them."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._runs: dict[bytes, tuple[Run, ...]] = {}
        self._before: dict[bytes, tuple[Run, ...]] = {}
        self._opened: dict[bytes, bytes] = {}  # approval id → thread, of runs this cycle opened
        self._parked: dict[bytes, tuple[Parked, ...]] = {}
        self._carried: dict[bytes, tuple[Carried, ...]] = {}  # read or changed in this cycle
        self._recarried: set[bytes] = set()
        self.parked_count = ledger.parked_count
        self._parked_bytes = ledger.parked_bytes

    def parked_room(self, limits: Limits) -> bool:
        """Whether one more early answer may be kept."""
        return (
            self.parked_count < limits.parked_answers and self._parked_bytes < limits.parked_bytes
        )

    def key_of(self, event: Input) -> bytes:
        """The thread that an input is about; an unknown approval id alone is a key of its own."""
        assert not isinstance(event, Tick)
        if event.thread is not None:
            return codec.thread_digest(event.thread)
        assert isinstance(event, Answer | Operation)
        assert event.approval_id is not None
        approval = id_bytes(event.approval_id)
        return self._opened.get(approval) or self._ledger.thread_of(approval) or approval

    def knows(self, key: bytes) -> bool:
        """Whether a run of the thread is remembered."""
        return bool(self._runs[key]) if key in self._runs else self._ledger.knows(key)

    def carries(self, key: bytes) -> bool:
        """Whether a context of the thread is kept."""
        changed = self._carried.get(key)
        return self._ledger.has_carry(key) if changed is None else bool(changed)

    def thread(self, key: bytes) -> Thread:
        """The thread without early answers."""
        return Thread(runs=self._runs_of(key), carry=self._carry_of(key))

    def with_early(self, thread: Thread, event: Input) -> Thread:
        """The thread, with the early answers that concern this input."""
        if not self.parked_count:
            return thread
        parked: tuple[Parked, ...] = ()
        for approval in _concerned(thread, event):
            parked += self._parked_under(approval)
        return replace(thread, parked=parked) if parked else thread

    def due(self, key: bytes) -> Thread:
        """What a timer names: a thread, or the early answers under one approval id."""
        if is_parked_timer(key):
            return Thread(parked=self._parked_under(key[1:]))
        return self.thread(key)

    def settle(self, key: bytes, seen: Thread, left: Thread) -> None:
        """Take over what a decision left of what it saw."""
        if left.runs is not seen.runs:
            self._runs[key] = left.runs
            self._note_opened(key, seen.runs, left.runs)
        if left.carry is not seen.carry:
            self._carried[key] = left.carry
            self._recarried.add(key)
        if left.parked is not seen.parked:
            for approval in {id_bytes(p.approval_id) for p in seen.parked + left.parked}:
                self._settle_parked(approval, left.parked)

    def writes(self) -> Iterator[tuple[bytes, bytes | None]]:
        """The state records (key, value) that make the ledger what this cycle left."""
        for thread, runs in self._runs.items():
            yield from self._run_writes(thread, runs)
        for approval, parked in self._parked.items():
            yield codec.parked_key(approval), codec.encode_parked(parked) if parked else None
        for thread in self._recarried:
            carry = self._carried[thread]
            if carry or self._ledger.has_carry(thread):
                yield codec.carry_key(thread), codec.encode_carry(carry) if carry else None

    def decoded(self) -> dict[bytes, tuple[Run, ...]]:
        """The runs of each thread that this cycle changed and left some of."""
        return {
            thread: runs
            for thread, runs in self._runs.items()
            if runs and runs is not self._before[thread]
        }

    def _run_writes(
        self, thread: bytes, runs: tuple[Run, ...]
    ) -> Iterator[tuple[bytes, bytes | None]]:
        before = {run.run_id: run for run in self._before[thread]}
        for run in runs:
            if before.pop(run.run_id, None) is not run:
                yield codec.run_key(run), codec.encode_run(run, next_timer(run))
        for forgotten in before.values():
            yield codec.run_key(forgotten), None

    def _note_opened(self, key: bytes, seen: tuple[Run, ...], left: tuple[Run, ...]) -> None:
        known = {run.run_id for run in seen}
        for run in left:
            if run.run_id not in known:
                approval_id = key_of(run).approval_id
                for item in run.items:
                    self._opened[id_bytes(approval_id(item.question.interrupt_id))] = key

    def _settle_parked(self, approval: bytes, left: tuple[Parked, ...]) -> None:
        kept = tuple(p for p in left if id_bytes(p.approval_id) == approval)
        before = self._parked_under(approval)
        self.parked_count += len(kept) - len(before)
        self._parked_bytes += sum(early_bytes(p.answer) for p in kept if p not in before)
        self._parked[approval] = kept

    def _runs_of(self, key: bytes) -> tuple[Run, ...]:
        runs = self._runs.get(key)
        if runs is None:
            runs = self._runs[key] = self._before[key] = self._ledger.runs(key)
        return runs

    def _parked_under(self, approval: bytes) -> tuple[Parked, ...]:
        changed = self._parked.get(approval)
        return self._ledger.parked(approval) if changed is None else changed

    def _carry_of(self, key: bytes) -> tuple[Carried, ...]:
        carry = self._carried.get(key)
        if carry is None:
            carry = self._ledger.carried(key)
            if carry:
                self._carried[key] = carry
        return carry


def _concerned(thread: Thread, event: Input) -> Iterator[bytes]:
    """The approval ids under which early answers to this input's questions would be parked."""
    asked = asked_by(thread, event) if isinstance(event, RunEnded) else event
    if isinstance(asked, Interrupted):
        run = RunKey.of(asked.thread, asked.run_id)
        for question in asked.questions:
            yield id_bytes(run.approval_id(question.interrupt_id))
    elif isinstance(event, Answer) and (early := early_id(event)) is not None:
        yield id_bytes(early)
