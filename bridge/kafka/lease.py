"""Membership of the workers' group: which slots this worker should serve. It reads no data.
The producer's epoch decides who may write; this only keeps workers from trying the same slot.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from aiokafka import ConsumerRebalanceListener
from aiokafka.errors import (
    CommitFailedError,
    ConsumerStoppedError,
    InconsistentGroupProtocolError,
)
from aiokafka.structs import TopicPartition

from bridge.errors import ClusterError, GroupTaken
from bridge.kafka.assignor import SeatAssignor
from bridge.kafka.clients import (
    REQUEST_TIMEOUT,
    SESSION_MS,
    START_DEADLINE,
    ClientSettings,
    kill,
    lease_consumer,
    make_consumer,
    start_consumer,
    stop_consumer,
)
from bridge.kafka.group import describe_group
from bridge.kafka.seats import Declaration, Roster
from bridge.kafka.topic_admin import connected

log = logging.getLogger(__name__)

Membership = Literal["member", "not_member", "unknown"]

# How long one poll waits. It fetches nothing, but the client gives up the membership of a consumer
# that does not poll, and reports a failed coordination only to one that does.
_POLL_MS: Final = 1_000
_NAMED: Final = 5  # members of a group that others have taken, in one message


class Lease:
    """The worker's seat in the group.

    `changed` is set at every assignment, also when it is the same set again, and on `failure`
    (the seat is lost for good then: kill this lease and make another). The reader clears it.
    """

    def __init__(
        self,
        client: ClientSettings,
        group_id: str,
        topic: str,
        slots: int,
        sources: Sequence[str] = (),
        session_ms: int = SESSION_MS,
    ) -> None:
        """`topic` has one partition a slot; subscribing to it is what joins the group.

        `sources`: the names that this worker declares to know. `session_ms`: how long the group
        waits for a worker that says nothing.
        """
        self.assigned: frozenset[int] = frozenset()
        self.roster: Roster | None = None
        self.deployment = ""  # its id, as the group's leader tells it
        self._term = 0
        self._sources = tuple(sources)
        self._client = client
        self._group_id = group_id
        self.changed = asyncio.Event()
        self.failure: Exception | None = None
        self.topic = topic
        assignor = SeatAssignor(slots, self._declaration, self._learn)
        role = lease_consumer(assignor, session_ms)
        self._consumer = make_consumer(client, role, group_id=group_id)
        self._notes = _Notes(self)
        self._poller: asyncio.Task[None] | None = None

    async def join(self, within: float = START_DEADLINE) -> None:
        """Join the group; the first assignment is noted when this returns.

        Raises Unreachable, NotAuthorized, GroupTaken or ClusterError.
        """
        self._consumer.subscribe([self.topic], listener=self._notes)
        try:
            await start_consumer(self._consumer, within)
        except ClusterError as error:
            if not isinstance(error.__cause__, InconsistentGroupProtocolError):
                raise
            async with connected(self._client) as admin:
                group = await describe_group(admin, self._group_id)
            names = ", ".join(str(member) for member in group.strangers[:_NAMED])
            raise GroupTaken(
                f"The group {group.name} has members that are no workers and that let no worker "
                f"in; stop them: {names or 'they have just gone'}"
            ) from error
        self._poller = asyncio.create_task(self._poll(), name="lease")

    async def membership(self, slot: int, within: float = REQUEST_TIMEOUT) -> Membership:
        """Whether the group still counts this worker as the owner of the slot.

        Called when the slot was fenced: "not_member" means wait for the next assignment, "member"
        that the broker timed our own transaction out, so reopen. "unknown" (a rebalance is under
        way, or no answer within so many seconds) must be requested again.
        """
        if slot not in self.assigned:
            return "not_member"
        if self._notes.rebalancing:
            return "unknown"
        try:
            # R8: the exception of fencing is the same for both, and two owners that both reopen
            # fence each other for ever. R9: the offset says nothing, only the group's answer does.
            async with asyncio.timeout(within):
                await self._consumer.commit({TopicPartition(self.topic, slot): 0})
        except CommitFailedError:
            return "not_member"
        except Exception as error:  # R7
            log.warning("membership is not known: %r", error, extra={"slot": slot})
            return "unknown"
        return "member"

    async def leave(self, within: float = REQUEST_TIMEOUT) -> None:
        """R17: leave the group at once, so that others go on; the slots must be closed before."""
        self.assigned = frozenset()
        await stop_consumer(self._consumer, within)
        await self._end_polling()

    async def kill(self) -> None:
        """End tasks and connections without a word to the group; the session has to time out.

        `assigned` stays as it was: until the group has given the slots away they may be served.
        """
        await kill(self._consumer)
        await self._end_polling()

    def note(self, slots: Iterable[int]) -> None:
        """Take a new assignment down."""
        self.assigned = frozenset(slots)
        self.changed.set()

    def hold(self, partitions: Iterable[TopicPartition]) -> None:
        """Keep the consumer from looking for positions and data of what it was assigned."""
        for partition in partitions:
            self._consumer.seek(partition, 0)
            self._consumer.pause(partition)

    def _declaration(self) -> Declaration:
        """Slots stay declared while the group settles: that is what keeps them where they are."""
        return Declaration(
            worker=f"{socket.gethostname()}:{os.getpid()}",
            sources=self._sources,
            slots=tuple(sorted(self.assigned)),
            term=self._term,
            deployment=self.deployment,
        )

    def _learn(self, roster: Roster | None) -> None:
        self.roster = roster
        self._term = 0 if roster is None else roster.term
        self.deployment = self.deployment if roster is None else roster.deployment

    async def _poll(self) -> None:
        try:
            while True:
                # R17: never cancelled; a cancelled poll counts as under way for ever
                await self._consumer.getmany(timeout_ms=_POLL_MS)
        except ConsumerStoppedError:
            return
        except Exception as error:  # R7
            self.failure = error
            self.changed.set()

    async def _end_polling(self) -> None:
        """The consumer is closed: the poll ends by itself, unless it waits for an assignment."""
        if self._poller is None:
            return
        await asyncio.wait({self._poller}, timeout=2 * _POLL_MS / 1000)
        self._poller.cancel()


class _Notes(ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka ships no types
    """R17: takes notes only; the client swallows what a listener raises and waits for it."""

    def __init__(self, lease: Lease) -> None:
        self.rebalancing = True
        self._lease = lease

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Not passed on: a slot that stays must not notice a rebalance."""
        self.rebalancing = True

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        held = list(assigned)
        self._lease.hold(held)
        self.rebalancing = False
        self._lease.note(partition.partition for partition in held)
