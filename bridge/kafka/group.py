"""The workers' group as the brokers show it: its members, what they declared, what they hold."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any, Final

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from aiokafka.errors import (
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    KafkaError,
    for_code,
)

from bridge.errors import ClusterError, NotAuthorized
from bridge.kafka.assignor import NAME
from bridge.kafka.seats import Declaration, read_declaration

_COORDINATOR_S: Final = 10.0
_RETRY_S: Final = 0.2
_SETTLES_S: Final = 10.0
"""A rebalance waits for a member that died or hangs until its session has ended."""
_REBALANCING: Final = ("PreparingRebalance", "CompletingRebalance")


@dataclass(frozen=True, slots=True)
class Member:
    """One member; `declaration` is None for one that is no worker."""

    member_id: str
    client_id: str
    host: str
    declaration: Declaration | None
    slots: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.client_id} at {self.host.removeprefix('/')} ({self.member_id})"


@dataclass(frozen=True, slots=True)
class Group:
    """`state` is Kafka's word (Stable, Empty, Dead, …), `protocol` the assignor's name."""

    name: str
    state: str
    protocol: str
    members: tuple[Member, ...]

    @property
    def settled(self) -> bool:
        """Whether it can be seen who is a worker: in a rebalance brokers keep it to themselves."""
        return self.state not in _REBALANCING

    @property
    def workers(self) -> tuple[Member, ...]:
        return tuple(each for each in self.members if each.declaration is not None)

    @property
    def strangers(self) -> tuple[Member, ...]:
        """Members that are no workers; none while nobody can tell."""
        if not self.settled:
            return ()
        return tuple(each for each in self.members if each.declaration is None)

    def unserved(self, slots: int) -> list[int]:
        """The slots that no worker was given."""
        served = {slot for each in self.workers for slot in each.slots}
        return sorted(set(range(slots)) - served)


async def describe_group(admin: AIOKafkaAdminClient, name: str) -> Group:
    """The group as it is now; without members where it does not exist.

    A rebalance is waited for, though not for ever: see `Group.settled`. Raises NotAuthorized
    without DESCRIBE on the group, and ClusterError.
    """
    described = await _description(admin, name)
    settles = time.monotonic() + _SETTLES_S
    while described["state"] in _REBALANCING and time.monotonic() < settles:
        await asyncio.sleep(_RETRY_S)
        described = await _description(admin, name)
    if for_code(described["error_code"]) is GroupAuthorizationFailedError:
        raise NotAuthorized(f"Grant the principal DESCRIBE on the group {name}.")
    ours = described["protocol"] == NAME  # else nobody in it is a worker
    members = tuple(
        Member(
            member_id=each["member_id"],
            client_id=each["client_id"],
            host=each["client_host"],
            declaration=_declared(each["member_metadata"]) if ours else None,
            slots=_assigned(each["member_assignment"]),
        )
        for each in described["members"]
    )
    return Group(name, described["state"], described["protocol"], members)


async def _description(admin: AIOKafkaAdminClient, name: str) -> dict[str, Any]:
    """The broker's answer. A cluster that never had a group makes the topic of theirs first."""
    deadline = time.monotonic() + _COORDINATOR_S
    while True:
        try:
            (answer,) = await admin.describe_consumer_groups([name])
        except GroupCoordinatorNotAvailableError as error:
            if time.monotonic() > deadline:
                raise ClusterError(f"The group {name} has no coordinator: {error}") from error
            await asyncio.sleep(_RETRY_S)
        except KafkaError as error:
            raise ClusterError(f"The group {name} cannot be described: {error!r}") from error
        else:
            described: dict[str, Any] = answer.to_object()["groups"][0]
            return described


def _declared(metadata: bytes) -> Declaration | None:
    try:
        return read_declaration(ConsumerProtocolMemberMetadata.decode(metadata).user_data)
    except Exception:  # the client's decoder raises whatever it meets
        return None


def _assigned(assignment: bytes) -> tuple[int, ...]:
    try:
        found = ConsumerProtocolMemberAssignment.decode(assignment)
    except Exception:  # a member that has none yet has no bytes either
        return ()
    return tuple(sorted(partition.partition for partition in found.partitions()))
