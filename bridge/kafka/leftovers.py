"""Ends what a slot's former transactions left open in a log, by the verdict they got.

Fencing settles the last transaction of an id; what is open afterwards lost its marker on the way
(see `verdict`). The next marker of the producer id ends it, whatever it says, so nothing may be
committed or aborted before this.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from aiokafka.structs import TopicPartition

from bridge.errors import ClusterError, TransactionUndecided
from bridge.kafka.inquiry import Ends, Inquiry
from bridge.kafka.transaction import SlotProducer
from bridge.kafka.verdict import End, Marker, OpenTransaction, ending

log = logging.getLogger(__name__)

_DEADLINE: Final = 30.0  # a partition without a leader answers nobody; the slot opens again
_SECOND_LOOK_S: Final = 1.0  # a follower that has just become leader may be a moment late

Plan = dict[End, list[TopicPartition]]


async def settle(producer: SlotProducer) -> Mapping[End, Sequence[TopicPartition]]:
    """Give each leftover of this producer's id the end it was decided to have; which got which.

    Call it after the producer has started and before anything is read or written. Raises
    TransactionUndecided where nobody can tell the end, and what ends a producer.
    """
    try:
        async with asyncio.timeout(_DEADLINE):
            inquiry = producer.inquiry
            behind = await _behind(inquiry, await producer.own_partitions())
            if behind and inquiry.brokers > 1:
                await asyncio.sleep(_SECOND_LOOK_S)
                behind = await _behind(inquiry, list(behind))
            plan = await _plan(producer, inquiry, behind) if behind else {}
    except TimeoutError as error:
        raise ClusterError(
            f"No answer within {_DEADLINE:g} s about open transactions of "
            f"{producer.transactional_id}. Do all partitions have leaders?"
        ) from error
    for end, partitions in plan.items():
        where = [f"{tp.topic}/{tp.partition}" for tp in partitions]
        log.warning("open transaction ended: %s", end, extra={"partitions": where})
        await producer.end_open(partitions, end)
    return plan


async def _behind(
    inquiry: Inquiry, partitions: Sequence[TopicPartition]
) -> dict[TopicPartition, Ends]:
    ends = await inquiry.ends(partitions)
    return {tp: end for tp, end in ends.items() if end.behind}


async def _plan(
    producer: SlotProducer, inquiry: Inquiry, behind: Mapping[TopicPartition, Ends]
) -> Plan:
    state = (await producer.own_partitions())[0]
    left = [
        each
        for tp, found in (await inquiry.open_transactions(list(behind))).items()
        for each in _ours(producer, tp, behind[tp], found)
    ]
    state_open = any(each.partition == state for each in left)
    marker: Marker | None = None
    if left and not state_open:
        ends = await inquiry.ends([state])
        marker = await inquiry.last_marker(state, ends[state].high)
    plan: Plan = {}
    for each in left:
        end = ending(each, producer.verdicts, state_open, marker)
        if end is None:
            raise _undecided(each)
        plan.setdefault(end, []).append(each.partition)
    return plan


def _ours(
    producer: SlotProducer,
    tp: TopicPartition,
    ends: Ends,
    found: Iterable[OpenTransaction] | None,
) -> list[OpenTransaction]:
    """What this producer id has left open; others' are theirs, and the restore waits for them."""
    mine, epoch = producer.identity
    if found is not None:
        return [each for each in found if each.producer_id == mine and each.epoch < epoch]
    said = producer.verdicts.latest
    if said is None or tp.topic == producer.shared_topic:
        return []
    # Without READ on an output nobody tells whose it is. Only this slot writes there.
    return [OpenTransaction(tp, ends.stable, mine, said.epoch, 0)]


def _undecided(left: OpenTransaction) -> TransactionUndecided:
    where = f"--topic {left.partition.topic} --partition {left.partition.partition}"
    return TransactionUndecided(
        f"{left.partition.topic}/{left.partition.partition} holds a transaction of this slot that "
        f"is open from offset {left.start} (producer id {left.producer_id}, epoch {left.epoch}), "
        "and nothing tells whether it was committed or aborted. The brokers' logs say 'likely "
        "deleted already' at the time, and the records of __transaction_state say CompleteCommit "
        "or CompleteAbort. If it was aborted, or if its records may be lost: "
        f"kafka-transactions.sh abort {where} --start-offset {left.start}"
    )
