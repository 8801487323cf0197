"""`deployment show` and `deployment adopt`: whose the state is, and how it becomes another's."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from bridge.cli.positions import inputs
from bridge.cli.settings import settings
from bridge.config import Config
from bridge.kafka import adoption
from bridge.kafka.adoption import Deployment, Holding
from bridge.kafka.group import Group, describe_group
from bridge.kafka.names import group_id
from bridge.kafka.topic_admin import connected

_MEANS = {
    "ours": "of these settings",
    "not begun": "no worker has opened it yet",
}


def show(arguments: argparse.Namespace) -> int:
    """Print each slot's birth and each member of the group; 0 whatever they are."""
    config = settings(arguments)
    deployment = _deployment(config)

    async def look() -> tuple[list[Holding], Group]:
        found = await adoption.holdings(deployment)
        async with connected(deployment.client) as admin:
            name = group_id(config.app_id, deployment.topics["state"])
            return found, await describe_group(admin, name)

    found, group = asyncio.run(look())
    if arguments.json:
        print(json.dumps({"slots": [asdict(each) for each in found], "group": _members(group)}))
        return 0
    print(*map(_line, found), sep="\n")
    print(f"group {group.name}: {group.state}")
    for member in _members(group):
        print(f"  {member['member']}: {member['is']}, slots {member['slots']}")
    return 0


def adopt(arguments: argparse.Namespace) -> int:
    """Write this deployment's birth where there is another or none; without --yes only say it."""
    config = settings(arguments)
    deployment = _deployment(config)
    if arguments.yes:
        done = asyncio.run(adoption.adopt(deployment, arguments.inputs))
        print(*map(_line, done), *left_pending(done), sep="\n")
        print(f"done: {len(done)} slots are now of app_id {config.app_id}")
        return 0
    found = asyncio.run(adoption.holdings(deployment))
    wrong = [each for each in found if each.condition in ("another's", "lost")]
    if not wrong:
        print("every slot is of these settings: nothing to adopt")
        return 0
    adoption.refuse(deployment, wrong, arguments.inputs)
    print(*map(_line, wrong), *left_pending(wrong), sep="\n")
    print("nothing is changed yet: say --yes to do it")
    return 0


def _deployment(config: Config) -> Deployment:
    known = inputs(config)
    return Deployment(
        client=config.kafka.client_kwargs(),
        app_id=config.app_id,
        topics=known.topics,
        slots=known.slots,
        inputs=known.names,
    )


def _line(each: Holding) -> str:
    whose = (
        f" app_id {each.birth.app_id}, deployment {each.birth.deployment}:" if each.birth else ""
    )
    said = _MEANS.get(each.condition) or f"{each.condition.upper()}, {each.problem}"
    return f"slot {each.slot}:{whose} {said}"


def left_pending(found: Sequence[Holding]) -> Iterator[str]:
    """What goes with a state that is lost: questions that people are still shown."""
    pending = sum(each.pending or 0 for each in found)
    if pending:
        yield (
            f"{pending} approvals are pending that no state knows any more: unless the event that "
            "asked is read again they stay so, and an answer gets `unknown`. See afterwards: "
            "interrupt-bridge doctor"
        )
    if any(each.condition == "lost" and each.pending is None for each in found):
        yield "how many approvals stay pending is not known: that needs Read on their topic"


def _members(group: Group) -> Sequence[dict[str, object]]:
    members: list[dict[str, object]] = []
    for each in group.members:
        said = each.declaration
        kind = "no worker" if said is None else "worker"
        if not group.settled:  # in a rebalance a member says nothing of itself
            kind = "not known in a rebalance"
        members.append(
            {
                "member": str(each) if said is None else said.worker,
                "is": kind,
                "sources": [] if said is None else list(said.sources),
                "slots": list(each.slots),
            }
        )
    return members
