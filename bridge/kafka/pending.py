"""Approvals that are pending on the topic, and those of them that no state knows.

A state that was lost takes its questions with it: what stands on `approvals` stays pending there,
and an answer to it gets `unknown`. Nothing but the topics themselves shows it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from uuid import UUID

from bridge.core.record import Record
from bridge.kafka.clients import ClientSettings
from bridge.kafka.reader import reading
from bridge.records.approval import Approval
from bridge.records.coding import decode
from bridge.records.encoding import NotARecord
from bridge.records.topics import Topics
from bridge.slot.ledger import Ledger

ByPartition = Mapping[int, frozenset[str]]


async def pending_approvals(client: ClientSettings, approvals: str) -> ByPartition:
    """The ids of approvals that wait for an answer, by partition. Raises Unreachable, TopicsWrong
    and the client's TopicAuthorizationFailedError."""
    newest: dict[str, tuple[int, bool]] = {}
    partitions: dict[str, int] = {}
    async with reading(client, approvals, unreadable=lambda _error: None) as reader:
        async for record in reader.to_end():
            approval = _approval(record)
            if approval is None:
                newest.pop((record.key or b"").decode(errors="replace"), None)
            elif approval.revision > newest.get(approval.approval_id, (0, False))[0]:
                partitions[approval.approval_id] = record.origin.partition
                pending = approval.status == "pending"
                newest[approval.approval_id] = (approval.revision, pending)
    found: dict[int, set[str]] = defaultdict(set)
    for approval_id, (_, waits) in newest.items():
        if waits:
            found[partitions[approval_id]].add(approval_id)
    return {partition: frozenset(ids) for partition, ids in found.items()}


async def unknown_approvals(client: ClientSettings, topics: Topics) -> ByPartition:
    """Those pending ones that the state of their slot does not know. Raises as above.

    What is pending was written with its run in one transaction: the state is read after it, and
    what has been closed and forgotten by then is no longer pending when it is looked at again.
    """
    pending = await pending_approvals(client, topics["approvals"])
    ledgers: dict[int, Ledger] = defaultdict(Ledger)
    async with reading(client, topics["state"]) as reader:
        async for record in reader.to_end():
            ledgers[record.origin.partition].fold(record.key, record.value)
    unknown = {
        slot: frozenset(each for each in ids if ledgers[slot].thread_of(UUID(each).bytes) is None)
        for slot, ids in pending.items()
    }
    if any(unknown.values()):
        again = await pending_approvals(client, topics["approvals"])
        unknown = {slot: ids & again.get(slot, frozenset()) for slot, ids in unknown.items()}
    return {slot: ids for slot, ids in unknown.items() if ids}


def _approval(record: Record) -> Approval | None:
    try:
        approval = decode(Approval, record)
        return approval if approval and UUID(approval.approval_id) else None
    except (NotARecord, ValueError):  # somebody else's: it has no question of ours
        return None
