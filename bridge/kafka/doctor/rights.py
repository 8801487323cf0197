"""Which rights are missing, each with the command that grants it."""

from __future__ import annotations

from bridge.config import Config
from bridge.kafka.access import missing
from bridge.kafka.clients import ClientSettings
from bridge.kafka.doctor.check import Check
from bridge.kafka.rights import Right, of_worker


async def look_at_rights(client: ClientSettings, config: Config) -> list[Check]:
    """A worker's, and what asking a slot takes."""
    access = of_worker(config)
    to_ask = (
        Right("Write", "topic", config.topics.names()["operations"]),
        Right("Read", "topic", config.topics.names()["answer-verdicts"]),
    )
    lacking = await missing(client, (*access.needed, *to_ask))
    if not lacking:
        return [Check("ok", "rights", "all that a worker and the doctor need")]
    return [
        Check(
            "fail",
            "rights",
            f"no {right} for {access.principal.name}"
            + (", which only the doctor needs" if right in to_ask else ""),
            access.principal.add(right),
        )
        for right in lacking
    ]
