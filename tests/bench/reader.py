"""A read_committed reader on a thread, which notes when it first saw each record it looks for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, Self

from confluent_kafka import Consumer, Message

from tests.bench.ends import assign_ends

Name = Callable[[Message], str | None]
"""What a record is looked for by; None for those that nobody waits for."""

_POLL_S: Final = 0.2


class Reader:
    """`with Reader(...) as reader`: reads from the present end of each topic on."""

    def __init__(self, bootstrap: str, topics: Sequence[str], partitions: int, name: Name) -> None:
        self.seen: dict[str, float] = {}
        """Name to `time.perf_counter` of its first sight."""
        self._name = name
        self._stopping = threading.Event()
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "unused",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 100,
            }
        )
        assign_ends(self._consumer, topics, partitions)
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._thread.join()
        self._consumer.close()

    def wait(self, names: Sequence[str], within: float) -> None:
        """Until all of them were seen. Raises TimeoutError with how many were not."""
        deadline = time.monotonic() + within
        while missing := [name for name in names if name not in self.seen]:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(missing)} of {len(names)} not seen, {missing[0]} first")
            time.sleep(0.01)

    def _read(self) -> None:
        while not self._stopping.is_set():
            message = self._consumer.poll(_POLL_S)
            if message is None or message.error() is not None:
                continue
            name = self._name(message)
            if name is not None:
                self.seen.setdefault(name, time.perf_counter())
