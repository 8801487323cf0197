"""Asks every slot whether it reads and writes: an operation to each, and the verdicts that come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from typing import Final

from bridge.core.model import Verdict
from bridge.core.record import Record
from bridge.kafka.clients import ClientSettings
from bridge.kafka.doctor.check import Check
from bridge.kafka.doctor.members import holders
from bridge.kafka.doctor.words import numbers
from bridge.kafka.group import Group
from bridge.kafka.positions import Inputs
from bridge.kafka.post import posting
from bridge.kafka.reader import partition_counts, reading
from bridge.records import AnswerVerdict, NotARecord, Operation, decode, encode

ANSWER_S: Final = 5.0
"""A slot at work answers within one cycle, some milliseconds; a restart takes a second or two."""

_PROBED: Final[Verdict] = "probed"


async def look_at_slots(client: ClientSettings, inputs: Inputs, group: Group | None) -> list[Check]:
    """Each slot by itself; without any worker in the group there is nobody to ask."""
    if group is not None and group.settled and not group.workers:
        return [
            Check("fail", "slots", f"none of {inputs.slots} is served", "no worker is to be seen")
        ]
    took = await probe(client, inputs)
    return list(judge_probes(took, inputs.slots, holders(group)))


async def probe(client: ClientSettings, inputs: Inputs) -> dict[int, float]:
    """Seconds that each slot took to answer; those are missing that did not.

    Raises NotAuthorized, TopicsWrong, Unreachable and ClusterError.
    """
    operations, verdicts = inputs.topics["operations"], inputs.topics["answer-verdicts"]
    partitions = (await partition_counts(client, operations))[operations]
    async with reading(client, verdicts, start="end") as reader, posting(client) as post:
        probed: dict[str, int] = {}
        began = time.monotonic()
        for slot in range(inputs.slots):
            value = encode(Operation(op="probe", slot=slot, by="doctor")).value or b""
            probed[str(await post(operations, None, value, slot % partitions))] = slot
        took: dict[int, float] = {}
        until = time.monotonic() + ANSWER_S
        while len(took) < len(probed) and time.monotonic() < until:
            for record in await reader.poll(0.1):
                if (answered := probed.get(_answered(record))) is not None:
                    took[answered] = time.monotonic() - began
            await asyncio.sleep(0)
    return took


def _answered(record: Record) -> str:
    """The id of what was probed; empty for any other verdict."""
    try:
        verdict = decode(AnswerVerdict, record)
    except NotARecord:
        return ""
    return verdict.answer_id if verdict and verdict.verdict == _PROBED else ""


def judge_probes(took: Mapping[int, float], slots: int, held: Mapping[int, str]) -> Iterator[Check]:
    """One line for the slots that answered, and one for each worker's slots that did not."""
    if took:
        slowest = f"within {max(took.values()) * 1_000:.0f} ms"
        yield Check("ok", "slots", f"{numbers(took)} answered a probe {slowest}")
    silent: dict[str, list[int]] = {}
    for slot in sorted(set(range(slots)) - set(took)):
        silent.setdefault(held.get(slot, ""), []).append(slot)
    for worker, mine in sorted(silent.items()):
        advice = "start a worker, or find out who has it: interrupt-bridge deployment show"
        if worker:
            advice = f"{worker} has it: its log and /readyz say why"
        yield Check("fail", "slots", f"{numbers(mine)} did not answer in {ANSWER_S:g} s", advice)
