"""Runs, items and threads as changed copies, and how to find a question in a thread.

Copied by `structs.replace`, never by position: a new field is carried along by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from bridge.core.ids import key_of
from bridge.core.lifecycle import MOVES, Move
from bridge.core.model import (
    AcceptedAnswer,
    Answer,
    Carried,
    ClosedReason,
    Item,
    Millis,
    Operation,
    Publish,
    Run,
    RunOutcome,
    Thread,
)


def put(thread: Thread, old: Run, new: Run | None) -> Thread:
    """The thread with one run exchanged, or taken out; one that is closed leaves no context."""
    runs = [new if run is old else run for run in thread.runs]
    carry = thread.carry
    if carry and (new is None or new.outcome is not None):
        carry = without(carry, old.run_id)
    return replace(thread, runs=tuple([run for run in runs if run is not None]), carry=carry)


def without(carry: tuple[Carried, ...], run_id: str) -> tuple[Carried, ...]:
    """The contexts but for that of one run; the same object where it left none."""
    kept = tuple([context for context in carry if context.run_id != run_id])
    return carry if len(kept) == len(carry) else kept


def with_items(run: Run, items: Sequence[Item]) -> Run:
    """The run with other items, still as open or closed as it was."""
    return replace(run, items=tuple(items))


def with_outcome(run: Run, items: Sequence[Item], outcome: RunOutcome, now: Millis) -> Run:
    """The run closed with an outcome; its items are given as they end."""
    return replace(run, items=tuple(items), outcome=outcome, closed_at=now)


def with_confirmation(run: Run) -> Run:
    """The resumed run, now that somebody saw its resume start."""
    return replace(run, confirmed=True)


def with_end(run: Run) -> Run:
    """The run as one of a thread that has come to its end."""
    return replace(run, ended=True)


def moved(
    item: Item,
    move: Move,
    now: Millis,
    reason: ClosedReason,
    answer: AcceptedAnswer | None = None,
    flag: str | None = None,
) -> Item:
    """The item after a move, one revision on, with the reason that counts from now on."""
    return replace(
        item,
        status=MOVES[item.status][move],
        revision=item.revision + 1,
        flags=item.flags if flag is None or flag in item.flags else (*item.flags, flag),
        answer=answer or item.answer,
        closed_at=now,
        closed_reason=reason,
    )


def revised(item: Item, closed_reason: ClosedReason | None = None, flag: str | None = None) -> Item:
    """The item one revision on, its status as it was; a reason or a flag may be new."""
    return replace(
        item,
        revision=item.revision + 1,
        flags=item.flags if flag is None else (*item.flags, flag),
        closed_reason=closed_reason or item.closed_reason,
    )


def publish_all(run: Run) -> tuple[Publish, ...]:
    """Every approval of the run, in the order of the run."""
    return tuple([Publish(run, index) for index in range(len(run.items))])


def publish_changed(before: Run, after: Run) -> tuple[Publish, ...]:
    """The approvals that differ between two states of one run."""
    pairs = zip(before.items, after.items, strict=True)
    return tuple(Publish(after, index) for index, (old, new) in enumerate(pairs) if old is not new)


def open_count(run: Run) -> int:
    """How many of the run's interrupts still wait for an answer."""
    if run.outcome is not None:
        return 0
    return len([item for item in run.items if item.status == "pending"])


def has_asked(thread: Thread, run_id: str) -> bool:
    """Whether the run came to ask, and is remembered."""
    return any(run.run_id == run_id for run in thread.runs)


def run_of(thread: Thread, named: Answer | Operation) -> Run | None:
    """The run that an answer or operation names: by run id, else by one of its approval ids."""
    if named.run_id is not None:
        for run in thread.runs:
            if run.run_id == named.run_id and named.thread in (None, run.thread):
                return run
        return None
    for run in thread.runs:
        approval_id = key_of(run).approval_id
        if any(approval_id(i.question.interrupt_id) == named.approval_id for i in run.items):
            return run
    return None


def index_of(run: Run, answer: Answer) -> int | None:
    """Where in its run the question of an answer stands."""
    ids: list[str] = [item.question.interrupt_id for item in run.items]
    named: str | None = answer.interrupt_id
    if named is None:
        ids, named = list(map(key_of(run).approval_id, ids)), answer.approval_id
    return ids.index(named) if named in ids else None
