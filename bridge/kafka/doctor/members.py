"""Who is in the workers' group: workers, strangers, and whether every slot was given to one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bridge.config import Config
from bridge.kafka.doctor.check import Check
from bridge.kafka.doctor.words import numbers
from bridge.kafka.group import Group, describe_group
from bridge.kafka.names import group_id
from bridge.kafka.positions import Inputs
from bridge.kafka.seats import roster
from bridge.kafka.topic_admin import connected

_START = "start one: interrupt-bridge run"
_HIDDEN = "Dead"
"""What brokers say of a group that is not there, and of one that runs by the newer protocol."""
_UNSEEN = (
    "where one runs, the group has a member of Kafka's newer protocol, which hides all and has to "
    "go: kafka-consumer-groups.sh --describe --members --group"
)
_SETTLING = "it shares the slots out; look again in half a minute"


async def look_at_members(
    config: Config, inputs: Inputs, learn: Callable[[Group], None]
) -> list[Check]:
    """`learn` gets the group, where it could be seen."""
    async with connected(config.kafka.client_kwargs()) as admin:
        name = group_id(config.app_id, inputs.topics["state"])
        group = await describe_group(admin, name)
    learn(group)
    return list(judge_members(group, inputs.slots))


def judge_members(group: Group, slots: int) -> Iterator[Check]:
    """Strangers, no worker at all, slots that nobody was given; else how many workers."""
    if not group.settled:
        found = f"{len(group.members)} in the group {group.name}, {group.state}"
        yield Check("warn", "workers", found, _SETTLING)
        return
    for stranger in group.strangers:
        advice = "stop it, or give it another group.id; only workers belong there"
        yield Check("fail", "workers", f"{stranger} in the group {group.name} is no worker", advice)
    if not group.workers:
        advice = _START if group.state != _HIDDEN else f"{_START}; {_UNSEEN} {group.name}"
        yield Check("fail", "workers", f"none in the group {group.name}", advice)
        return
    found = f"{len(group.workers)} in the group {group.name}"
    if unserved := group.unserved(slots):
        advice = "look again in half a minute, then restart the workers"
        if group.strangers:
            advice = "once no stranger is left in the group, workers get them"
        yield Check("fail", "workers", f"{found}, and none has {numbers(unserved)}", advice)
    elif not group.strangers:
        yield Check("ok", "workers", found)
    # A source is read once every worker knows it; until then its events wait, whatever it is.
    lacking = roster({each.member_id: each.declaration for each in group.workers}).lacking
    for source, workers in lacking.items():
        found = f"source {source} is not read until {', '.join(workers)} knows it"
        yield Check("warn", "workers", found, "restart what does not know it with its settings")


def holders(group: Group | None) -> dict[int, str]:
    """The worker that each slot was given to, as far as is known."""
    workers = group.workers if group else ()
    return {
        slot: each.declaration.worker
        for each in workers
        if each.declaration is not None
        for slot in each.slots
    }
