"""Reads a cluster's topics into facts, and creates the bridge's own.

Nothing here changes the settings of a topic that exists: the client's alter call resets every
setting that it does not name, so a compacted topic would silently become a deleting one (R13).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import (
    NoError,
    TopicAlreadyExistsError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    for_code,
)

from bridge.errors import ClusterError
from bridge.kafka.access import missing
from bridge.kafka.clients import ClientSettings, kill, make_admin, start_admin
from bridge.kafka.rights import SOMEBODY, Principal, Right
from bridge.kafka.topics import (
    CHECKED_CONFIGS,
    Finding,
    TopicFacts,
    Wanted,
    compare,
    envelope_limit,
    settings,
)
from bridge.records.topics import TOPICS

CREATE_DEADLINE: Final = 30.0  # seconds until all partitions have leaders
POLL: Final = 0.1


@dataclass(frozen=True, slots=True)
class Created:
    """What `create` did: the topics it made, and those that stood there before."""

    made: tuple[str, ...]
    existed: tuple[str, ...]


async def check(client: ClientSettings, wanted: Wanted) -> tuple[Finding, ...]:
    """Compare the cluster with what is needed. Raises Unreachable or ClusterError."""
    lacking = await missing(client, wanted.access.needed) if wanted.access else ()
    async with connected(client) as admin:
        found = await facts(admin, [*wanted.names.values(), *wanted.inputs])
    return compare(wanted, found, lacking)


async def create(client: ClientSettings, wanted: Wanted, replication: int | None = None) -> Created:
    """Create the bridge's topics that are missing, and wait until they have leaders.

    `replication` defaults to min(3, brokers). What exists is left as it is: `check` tells whether
    it will do. Raises Unreachable, NotAuthorized or ClusterError, which names the topic.
    """
    async with connected(client) as admin:
        replicas = replication or min(3, len((await admin.describe_cluster())["brokers"]))
        inputs = await facts(admin, wanted.inputs)
        envelope = envelope_limit(inputs.values())
        topics = [
            NewTopic(
                wanted.names[role],
                wanted.partitions,
                replicas,
                topic_configs=settings(need, replicas, envelope),
            )
            for role, need in TOPICS.items()
        ]
        return await ensure(admin, topics, wanted.principal)


async def ensure(
    admin: AIOKafkaAdminClient, topics: list[NewTopic], principal: Principal = SOMEBODY
) -> Created:
    """Create those of `topics` that are missing, and wait until they have leaders.

    Raises NotAuthorized or ClusterError, which names the topic.
    """
    answer = await admin.create_topics(topics)
    made: list[str] = []
    existed: list[str] = []
    # The call never raises for a topic: each has a code of its own (R13).
    for name, number, message in answer.topic_errors:
        error = for_code(number)
        if number == 0:
            made.append(name)
        elif error is TopicAlreadyExistsError:
            existed.append(name)
        elif error is TopicAuthorizationFailedError:
            raise principal.refusal([Right("Create", "topic", name)])
        else:
            raise ClusterError(f"The topic {name} was not created: {message or error.__name__}")
    partitions = {topic.name: topic.num_partitions for topic in topics}
    await _until_led(admin, {name: partitions[name] for name in made})
    return Created(tuple(made), tuple(existed))


async def facts(admin: AIOKafkaAdminClient, names: Iterable[str]) -> dict[str, TopicFacts]:
    """The topics among `names` that exist, with their settings."""
    wanted = set(names)
    # Asking for a name would create the topic where auto.create.topics.enable is true: ask for all.
    described = {t["topic"]: t for t in await admin.describe_topics() if t["topic"] in wanted}
    configs = await _configs(admin, described)
    return {
        name: TopicFacts(
            name,
            len(topic["partitions"]),
            min((len(part["replicas"]) for part in topic["partitions"]), default=0),
            configs[name],
        )
        for name, topic in described.items()
    }


@asynccontextmanager
async def connected(client: ClientSettings) -> AsyncIterator[AIOKafkaAdminClient]:
    """A started admin client, killed afterwards: it has nothing to finish.

    Raises Unreachable, LoginFailed or ClusterError.
    """
    admin = make_admin(client)
    await start_admin(admin)
    try:
        yield admin
    finally:
        await kill(admin)


async def _until_led(admin: AIOKafkaAdminClient, wanted: Mapping[str, int]) -> None:
    # A client that starts on a topic its broker does not know yet may never find it (R15).
    deadline = time.monotonic() + CREATE_DEADLINE
    while True:
        led = {
            topic["topic"]: sum(part["leader"] >= 0 for part in topic["partitions"])
            for topic in await admin.describe_topics()
        }
        missing = wanted.items() - led.items()
        if not missing:
            return
        if time.monotonic() > deadline:
            names = ", ".join(sorted(name for name, _count in missing))
            raise ClusterError(f"No leaders after {CREATE_DEADLINE:.0f} s for the topics {names}.")
        await asyncio.sleep(POLL)


async def _configs(
    admin: AIOKafkaAdminClient, names: Iterable[str]
) -> dict[str, dict[str, str] | None]:
    filters: dict[str, Any] = dict.fromkeys(CHECKED_CONFIGS)
    resources = [ConfigResource(ConfigResourceType.TOPIC, name, filters) for name in names]
    found: dict[str, dict[str, str] | None] = {}
    for answer in await admin.describe_configs(resources) if resources else ():
        for resource in answer.to_object()["resources"]:
            name, error = resource["resource_name"], for_code(resource["error_code"])
            if error is NoError:
                entries = resource["config_entries"]
                found[name] = {each["config_names"]: each["config_value"] for each in entries}
            elif error is TopicAuthorizationFailedError:
                found[name] = None
            elif error is UnknownTopicOrPartitionError:  # deleted since it was listed
                found[name] = {}
            else:
                what = f"The settings of {name} could not be read: {error.__name__}"
                raise ClusterError(what)
    return found
