"""What one transaction of a slot is to hold, and how it is come by: in turns that may be awaited.

A work is a value. Until its transaction has committed nothing has happened; then the engine takes
it into its memory, and never before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from bridge.core.model import Metric, Origin, Run
from bridge.core.record import Record
from bridge.records.outgoing import Outgoing

StateRecord = tuple[bytes, bytes | None]
"""Key and value for the state partition; None is a tombstone."""

Place = tuple[str, int]
"""An input partition: topic and number."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What one transaction is to hold, and what is to be counted and said about it.

    `counts` is by (metric, label); `ages` are the seconds that each question which it closes was
    open; `defects` are errors of our own, by the record that they came up with.
    """

    outgoing: Sequence[Outgoing] = ()
    state: Sequence[StateRecord] = ()
    counts: Counter[tuple[Metric, str]] = msgspec.field(default_factory=Counter)
    ages: Sequence[float] = ()
    defects: Sequence[tuple[Origin, Exception]] = ()
    decoded: Mapping[bytes, tuple[Run, ...]] = msgspec.field(default_factory=dict)
    """Threads as the work leaves them, so that what it has just encoded is not decoded again."""

    @property
    def is_worth_it(self) -> bool:
        """Whether there is anything to write; without it nothing has changed."""
        return bool(self.outgoing or self.state)

    @property
    def records(self) -> list[Outgoing]:
        """All of the transaction: what others read, then the state."""
        return [*self.outgoing, *(Outgoing("state", key, value) for key, value in self.state)]


class Progress:
    """A work under way. Given up half-way it leaves nothing behind but an engine to be dropped."""

    def __init__(
        self,
        records: Iterable[Record],
        take: Callable[[Record], None],
        finish: Callable[[], Work],
    ) -> None:
        self._records = iter(records)
        self._take = take
        self._finish = finish

    def turns(self, each: int) -> Iterator[None]:
        """Take the records, and pause after each so many of them for whoever else has to turn.

        Raises SourceNotConfigured, InputUnknown and RerouteNotHome: what no worker with these
        settings may read.
        """
        for number, record in enumerate(self._records, 1):
            self._take(record)
            if number % each == 0:
                yield

    def finish(self) -> Work:
        """Take what is left, then what is due. Raises as `turns` does."""
        for record in self._records:
            self._take(record)
        return self._finish()
