"""Whose the state is: of these settings, of another deployment, lost, or not begun."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from bridge.kafka.adoption import Deployment, Holding, holdings
from bridge.kafka.doctor.check import Check
from bridge.kafka.doctor.words import numbers
from bridge.slot.birth import ADOPT


async def look_at_state(deployment: Deployment) -> list[Check]:
    """Every state partition as these settings would find it."""
    return list(judge_state(await holdings(deployment)))


def judge_state(found: Iterable[Holding]) -> Iterator[Check]:
    """One line for the slots that are in the same way."""
    alike: dict[tuple[str, str], list[int]] = defaultdict(list)
    for each in found:
        # Where each slot's own place is named, the first of them stands for all.
        alike[each.condition, "" if each.condition == "lost" else each.problem].append(each.slot)
    lost = {each.slot: each.problem for each in found if each.condition == "lost"}
    for (condition, problem), slots in sorted(alike.items()):
        who = numbers(slots)
        if condition == "ours":
            yield Check("ok", "state", f"{who} of this deployment")
        elif condition == "not begun":
            yield Check("warn", "state", f"{who} not begun", "a worker's start begins it")
        elif condition == "lost":
            advice = f"bring the old state topic back, or go on without: {ADOPT} --inputs latest"
            yield Check("fail", "state", f"{who} lost: {lost[slots[0]]}", advice)
        else:
            yield Check("fail", "state", f"{who} of another deployment: {problem}")
