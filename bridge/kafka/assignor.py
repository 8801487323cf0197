"""The workers' own way of sharing partitions, as aiokafka's coordinator calls it.

Its name keeps consumers with any other out of the group while a worker is in it. One that has the
name all the same but declares nothing is no worker, and is given nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from aiokafka.coordinator.assignors.abstract import AbstractPartitionAssignor
from aiokafka.coordinator.protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)

from bridge.kafka.seats import (
    Declaration,
    Roster,
    encode,
    read_declaration,
    read_roster,
    roster,
    share_out,
)

NAME: Final = "interrupt-bridge"
_VERSION: Final = 0  # of the embedded consumer protocol, the one this client speaks


class SeatAssignor(AbstractPartitionAssignor):  # type: ignore[misc]  # aiokafka ships no types
    """One worker's; the client calls class methods of others, so an instance does as well."""

    name = NAME

    def __init__(
        self,
        slots: int,
        declare: Callable[[], Declaration],
        learn: Callable[[Roster | None], None],
    ) -> None:
        """`declare` is called at each joining; `learn` gets the leader's word before the
        assignment does, None where the leader is no worker.
        """
        self._slots = slots
        self._declare = declare
        self._learn = learn

    def metadata(self, topics: Iterable[str]) -> Any:
        """What goes to the leader."""
        said = encode(self._declare())
        return ConsumerProtocolMemberMetadata(_VERSION, list(topics), said)

    def assign(self, cluster: object, members: Mapping[str, Any]) -> dict[str, Any]:
        """The leader's part: an assignment for each member, and what all declared."""
        declared = {member: read_declaration(said.user_data) for member, said in members.items()}
        workers = {member: said for member, said in declared.items() if said is not None}
        shared = encode(roster(declared, deployment=uuid.uuid4().hex))
        shares = share_out(self._slots, workers)
        return {
            member: ConsumerProtocolMemberAssignment(
                _VERSION,
                [(topic, shares[member]) for topic in said.subscription if shares.get(member)],
                shared,
            )
            for member, said in members.items()
        }

    def on_assignment(self, assignment: Any) -> None:
        """Each member's part: what the leader decided."""
        self._learn(read_roster(assignment.user_data))
