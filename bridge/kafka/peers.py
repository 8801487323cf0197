"""What a worker knows of its group: which sources wait for whom, and who is no worker.

A source is read only while every worker knows it: whoever reads it sends events of it home to
whatever worker serves their slot.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from bridge.kafka.seats import Roster
from bridge.observe.metrics import Metrics

log = logging.getLogger(__name__)


class Peers:
    """Taken from the group's last assignment; says in log and metrics what changes."""

    def __init__(self, sources: Mapping[str, Sequence[str]], metrics: Metrics) -> None:
        """`sources`: the topics of each source in the settings, by its name."""
        self._sources = sources
        self._metrics = metrics
        self._roster: Roster | None = None
        self.waiting: dict[str, tuple[str, ...]] = {}
        self.waiting_topics: frozenset[str] = frozenset()
        self.strangers: tuple[str, ...] = ()
        self.led_by_stranger = False

    def learn(self, roster: Roster | None) -> None:
        """Take down what came with an assignment; None where no worker shared the slots out."""
        if roster is None and not self.led_by_stranger:
            log.error("the slots were shared out by something that is no worker of this group")
        self.led_by_stranger = roster is None
        if roster is None:  # nobody knows what the others know; hops tell by themselves
            self._metrics.strangers.set(1)
            return
        for member in set(roster.strangers) - set(self.strangers):
            log.warning(
                "a member of the workers' group is no worker, and is given nothing: stop it",
                extra={"member": member},
            )
        self.strangers = roster.strangers
        self._metrics.strangers.set(roster.stranger_count)
        self._wait(
            {source: roster.lacking[source] for source in self._sources if source in roster.lacking}
        )

    def details(self) -> dict[str, Any]:
        """For /readyz."""
        strangers = list(self.strangers)
        if self.led_by_stranger:
            strangers.append("the group's leader, which shares out the slots")
        return {
            "sources_waiting": {source: list(who) for source, who in self.waiting.items()},
            "strangers": strangers,
        }

    def _wait(self, waiting: dict[str, tuple[str, ...]]) -> None:
        for source in waiting.keys() - self.waiting.keys():
            log.info(
                "source is not read until every worker knows it",
                extra={"source": source, "lacking": ", ".join(waiting[source])},
            )
        for source in self.waiting.keys() - waiting.keys():
            log.info("every worker knows the source: it is read", extra={"source": source})
        for source in self._sources:
            self._metrics.sources_waiting.labels(source).set(source in waiting)
        self.waiting = waiting
        self.waiting_topics = frozenset(
            topic for source in waiting for topic in self._sources[source]
        )
