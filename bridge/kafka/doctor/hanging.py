"""Transactions that stay open in the bridge's own topics: what lies behind them nobody reads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final

from aiokafka.structs import TopicPartition

from bridge.kafka.clients import START_DEADLINE, ClientSettings
from bridge.kafka.doctor.check import Check
from bridge.kafka.inquiry import inquiring
from bridge.kafka.positions import Inputs
from bridge.kafka.verdict import OpenTransaction
from bridge.records.instants import rfc3339

STILL_S: Final = 3.0
"""Longer than a slot's transactions take, shorter than anybody likes to wait."""

WRITTEN: Final = ("state", "approvals", "resume-commands", "answer-verdicts", "dead-letters")
"""By role; the topics that slots read are looked at with their positions."""


async def look_at_own_topics(client: ClientSettings, inputs: Inputs) -> list[Check]:
    """Two looks where anything is open: a slot at work always has something open somewhere."""
    there = [
        TopicPartition(inputs.topics[role], slot)
        for role in WRITTEN
        for slot in range(inputs.slots)
    ]
    async with inquiring(client) as inquiry, asyncio.timeout(START_DEADLINE):
        before = await inquiry.ends(there)
        behind = [tp for tp in there if before[tp].behind]
        if behind:
            await asyncio.sleep(STILL_S)
        now = await inquiry.ends(behind)
        stuck = [tp for tp in behind if now[tp].behind and now[tp].stable == before[tp].stable]
        whose = await inquiry.open_transactions(stuck)
    return list(judge_hanging(stuck, [each for found in whose.values() for each in found or ()]))


def judge_hanging(
    stuck: Iterable[TopicPartition], whose: Iterable[OpenTransaction]
) -> Iterator[Check]:
    """One line for each partition that readers cannot get on in; else that there is none."""
    oldest: dict[TopicPartition, OpenTransaction] = {}
    for each in sorted(whose, key=lambda one: one.start, reverse=True):
        oldest[each.partition] = each
    stuck = list(stuck)
    for tp in stuck:
        by = oldest.get(tp)
        yield Check(
            "fail", "open transactions", f"{tp.topic}/{tp.partition} {held_by(by)}", _ADVICE
        )
    if not stuck:
        yield Check("ok", "open transactions", "none stays open in the bridge's own topics")


_ADVICE: Final = "its slot ends it when it opens: restart the worker that has the slot"


def held_by(by: OpenTransaction | None) -> str:
    """Whose it is and since when, as far as the brokers tell."""
    if by is None:
        return "is held back by an open transaction"
    since = rfc3339(by.last_written)
    return f"is held back at {by.start} by a transaction of producer {by.producer_id} since {since}"
