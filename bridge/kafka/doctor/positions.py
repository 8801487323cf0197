"""Where slots read: positions that are lost, that do not move, and what holds them back."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator

from bridge.kafka.clients import ClientSettings
from bridge.kafka.doctor.check import Check
from bridge.kafka.doctor.hanging import STILL_S, held_by
from bridge.kafka.doctor.words import counted
from bridge.kafka.positions import Inputs, Standing, standings


async def look_at_positions(client: ClientSettings, inputs: Inputs) -> list[Check]:
    """Where something is left to read, two looks: a slot at work stores its positions each second.

    The group tells nothing of it: a worker whose slots stand still keeps its seat.
    """
    before = now = await standings(client, inputs)
    if any(at.lag for at in before):
        await asyncio.sleep(STILL_S)
        now = await standings(client, inputs)
    return list(judge_positions(before, now))


def judge_positions(before: list[Standing], now: list[Standing]) -> Iterator[Check]:
    """Lost positions by slot, slots that read nothing of what there is, else what is left."""
    lost = Counter(at.slot for at in now if at.lost)
    for slot, count in sorted(lost.items()):
        advice = (
            "see interrupt-bridge positions show, then: interrupt-bridge positions skip "
            f"--slot {slot} --to earliest"
        )
        found = f"slot {slot} has lost {counted(count, 'position')}"
        yield Check("fail", "positions", found, advice)
    blocked = list(_blocked(before, now))
    for at in blocked:
        assert at.blocked_by is not None
        where = f"--topic {at.topic} --partition {at.partition}"
        advice = (
            "whoever has it has to end it; one that was committed loses its records by an abort, "
            "so only where the runbook input-blocked.md says so: kafka-transactions.sh abort "
            f"{where} --start-offset {at.blocked_by.start}"
        )
        found = f"{at.topic}/{at.partition} {held_by(at.blocked_by)}"
        yield Check("fail", "positions", found, advice)
    named = {*lost, *(at.slot for at in blocked)}
    still = _still(before, now)
    for slot, lag in sorted(still.items()):
        if slot not in named:
            found = f"slot {slot} has {counted(lag, 'offset')} left to read and reads none"
            advice = "look at the log and /readyz of its worker, or start one"
            yield Check("warn", "positions", found, advice)
    if not named and not still:
        lag = sum(at.lag or 0 for at in now)
        yield Check("ok", "positions", f"none lost, {counted(lag, 'offset')} left to read")


def _blocked(before: list[Standing], now: list[Standing]) -> Iterator[Standing]:
    """Partitions where the same transaction has been open since the first look."""
    starts = {(at.topic, at.partition): at.blocked_by for at in before}
    for at in now:
        was = starts.get((at.topic, at.partition))
        if at.blocked_by is not None and was is not None and at.blocked_by.start == was.start:
            yield at


def _still(before: list[Standing], now: list[Standing]) -> Counter[int]:
    """What is left to read since the first look, of slots of which no position has moved."""
    stood = {(at.slot, at.topic, at.partition): at for at in before}
    left: Counter[int] = Counter()
    moved = set()
    for at in now:
        former = stood.get((at.slot, at.topic, at.partition))
        if former is None or former.position != at.position:
            moved.add(at.slot)
        elif former.lag:
            left[at.slot] += at.lag or 0
    return Counter({slot: lag for slot, lag in left.items() if lag and slot not in moved})
