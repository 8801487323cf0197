"""Whether every question that is pending on the topic is known to its slot."""

from __future__ import annotations

from collections.abc import Iterator

from aiokafka.errors import TopicAuthorizationFailedError

from bridge.errors import NotAuthorized
from bridge.kafka.clients import ClientSettings
from bridge.kafka.doctor.check import Check
from bridge.kafka.doctor.words import counted
from bridge.kafka.pending import ByPartition, unknown_approvals
from bridge.records.topics import Topics


async def look_at_approvals(client: ClientSettings, topics: Topics) -> list[Check]:
    """Compares the approvals with the state; a worker needs no Read on the approvals."""
    try:
        return list(judge_approvals(await unknown_approvals(client, topics), topics["approvals"]))
    except (NotAuthorized, TopicAuthorizationFailedError):
        found = "not compared with the state"
        return [Check("warn", "approvals", found, f"grant Read on {topics['approvals']} to see it")]


def judge_approvals(unknown: ByPartition, topic: str) -> Iterator[Check]:
    """A line for each slot whose state does not know what is pending."""
    for slot, ids in sorted(unknown.items()):
        yield Check(
            "warn",
            "approvals",
            f"{topic}/{slot} has {counted(len(ids), 'pending approval')} that the state of slot "
            f"{slot} does not know, such as {min(ids)}: an answer gets `unknown`",
            "a state was lost there: withdraw them on the agents' side, see runbook slot-stopped",
        )
    if not unknown:
        yield Check("ok", "approvals", "each pending one is known to its slot")
