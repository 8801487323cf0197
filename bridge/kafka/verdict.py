"""How a transaction that lies open in a log has to end. Pure: no I/O, no clock.

A broker can decide a transaction and never write its marker to a partition: Kafka 4.3 and 4.4 skip
partitions that have no leader at that moment. Whoever fences the producer id finds them open, and
by then the coordinator knows of nothing any more. So it is queried before, and what it said is
remembered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from aiokafka.structs import TopicPartition

End = Literal["commit", "abort"]

# Brokers' clocks differ by less. A marker is lost once the session of a broker has ended and its
# partitions count as leaderless, and only then the next transaction begins: that takes seconds.
_APART_MS: Final = 1_000

_ENDS: Final[dict[str, End]] = {
    "PrepareCommit": "commit",
    "CompleteCommit": "commit",
    "Ongoing": "abort",
    "PrepareAbort": "abort",
    "CompleteAbort": "abort",
    "PrepareEpochFence": "abort",
}

MOST_EPOCHS: Final = 1_000
"""Openings that failed after their fence, one after the other, are remembered up to so many."""


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """Where a transaction is open, and whose it is by the partition's leader."""

    partition: TopicPartition
    start: int
    producer_id: int
    epoch: int
    last_written: int  # milliseconds since the epoch, the stamp of its last batch


@dataclass(frozen=True, slots=True)
class LastTransaction:
    """What a coordinator says of the last transaction of a transactional id."""

    state: str
    producer_id: int
    epoch: int
    partitions: frozenset[TopicPartition]  # whole while it is Ongoing, shrinking afterwards
    began: int = 0  # milliseconds since the epoch, by the coordinator's clock

    def end_of(self, left: OpenTransaction) -> End | None:
        """The end of what lies open under its epoch; None where it does not tell."""
        end = _ENDS.get(self.state)
        # Where this one wrote nothing, what is open is of a transaction before it, and a producer
        # that goes on after a failure does not exist here: all before the last one committed.
        elsewhere = self.state == "Ongoing" and left.partition not in self.partitions
        later = elsewhere or 0 < left.last_written < self.began - _APART_MS
        return "commit" if end == "abort" and later else end


@dataclass(frozen=True, slots=True)
class Marker:
    """The end of a transaction, as a log has it."""

    producer_id: int
    epoch: int
    end: End


class Verdicts:
    """What the coordinator said of one transactional id, until a new owner has committed.

    It stands beside the tenures: the fence of the first wipes the coordinator's own memory, and a
    later one may be the first to find that something was left open.
    """

    def __init__(self) -> None:
        self._said: dict[tuple[int, int], LastTransaction] = {}
        self.latest: LastTransaction | None = None  # the newest that did something

    @property
    def remembered(self) -> int:
        """Of how many epochs something is remembered."""
        return len(self._said)

    def learn(self, said: LastTransaction | None) -> None:
        """Take an answer down. What was fenced since, and did nothing, says nothing new."""
        if said is None:
            return
        self._said.setdefault((said.producer_id, said.epoch), said)
        if said.state in _ENDS:
            # Of the same epoch it is the newest that counts: an owner may have lived until now
            self._said[said.producer_id, said.epoch] = self.latest = said
        if len(self._said) > MOST_EPOCHS:
            # The oldest that committed nothing; the first of all may be the one that did
            vain = (key for key, last in self._said.items() if _ENDS.get(last.state) != "commit")
            del self._said[next(vain, next(iter(self._said)))]

    def forget(self) -> None:
        """Everything that was open is settled, and a transaction has committed since."""
        self._said.clear()
        self.latest = None

    def end_of(self, left: OpenTransaction) -> End | None:
        """How it has to end, by what the coordinator said; None where it said nothing of it."""
        same = self._said.get((left.producer_id, left.epoch))
        if same is not None:
            # A producer with this epoch never began a transaction, so none was ever decided
            return same.end_of(left) or ("abort" if same.state == "Empty" else None)
        # Transactions of version 2 count the epoch up with the end, and so does a fence's abort
        after = self._said.get((left.producer_id, left.epoch + 1))
        return after.end_of(left) if after is not None else None


def end_by_log(left: OpenTransaction, state_open: bool, state_marker: Marker | None) -> End | None:
    """How it has to end by the slot's state partition alone, to which every transaction writes.

    With the state open too, all of it is open, and together it may be taken back. With the state
    settled, the marker at its end says how the last transaction ended; None where that is gone, or
    is of another epoch than what was left open.
    """
    if state_open:
        return "abort"
    if state_marker is None or state_marker.producer_id != left.producer_id:
        return None
    return state_marker.end if state_marker.epoch - left.epoch in (0, 1) else None


def ending(
    left: OpenTransaction, verdicts: Verdicts, state_open: bool, state_marker: Marker | None
) -> End | None:
    """The one end that does not tear a transaction in two; None where nobody can tell."""
    said = verdicts.end_of(left)
    if said is None:
        return end_by_log(left, state_open, state_marker)
    if said == "abort" and not state_open and end_by_log(left, False, state_marker) == "commit":
        return "commit"  # its owner lived long enough to commit after the coordinator was queried
    return said
