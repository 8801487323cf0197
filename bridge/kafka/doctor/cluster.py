"""What runs here, and how the brokers are set up: what goes with a worker's times."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any, Final

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from bridge.config import Worker
from bridge.core.durations import DAY
from bridge.kafka.clients import ClientSettings
from bridge.kafka.doctor.check import Check
from bridge.kafka.doctor.words import counted
from bridge.kafka.topic_admin import connected

_BROKER_SETTINGS: Final = (
    "auto.create.topics.enable",
    "group.max.session.timeout.ms",
    "group.min.session.timeout.ms",
    "producer.id.expiration.ms",
    "transaction.max.timeout.ms",
    "transaction.state.log.replication.factor",
    "transactional.id.expiration.ms",
)


def versions() -> Check:
    """What runs here."""
    names = ("interrupt-bridge", "aiokafka")
    found = ", ".join(f"{name} {version(name)}" for name in names)
    found += f", Python {sys.version_info.major}.{sys.version_info.minor}"
    if not __debug__:
        return Check("fail", "versions", found, "run Python without -O: the client asserts")
    return Check("ok", "versions", found)


async def look_at_cluster(client: ClientSettings, worker: Worker) -> list[Check]:
    """Whether it answers, first; then its settings."""
    async with connected(client) as admin:
        cluster = await admin.describe_cluster()
        brokers = cluster["brokers"]
        many = counted(len(brokers), "broker")
        first = Check("ok", "cluster", f"{many}, id {cluster['cluster_id']}")
        return [first, *await _broker_settings(admin, brokers, worker)]


async def _broker_settings(
    admin: AIOKafkaAdminClient, brokers: list[dict[str, Any]], worker: Worker
) -> list[Check]:
    """Of one broker: a cluster whose brokers differ in these is beyond a look from outside."""
    filters: dict[str, Any] = dict.fromkeys(_BROKER_SETTINGS)
    node = str(brokers[0]["node_id"])
    resources = [ConfigResource(ConfigResourceType.BROKER, node, filters)]
    (answer,) = await admin.describe_configs(resources)
    (resource,) = answer.to_object()["resources"]
    if resource["error_code"] != 0:
        advice = "grant DESCRIBE_CONFIGS on the cluster to have them checked"
        return [Check("warn", "broker settings", "not readable", advice)]
    found = {entry["config_names"]: entry["config_value"] for entry in resource["config_entries"]}
    problems = list(judge_settings(found, len(brokers), worker))
    return problems or [Check("ok", "broker settings", "fit the worker's times")]


def judge_settings(found: Mapping[str, str], brokers: int, worker: Worker) -> Iterator[Check]:
    """What of a broker's settings does not go with a worker's times."""
    for ours, milliseconds, name, above in (
        ("session_timeout", worker.session_timeout, "group.min.session.timeout.ms", False),
        ("session_timeout", worker.session_timeout, "group.max.session.timeout.ms", True),
        ("transaction_timeout", worker.transaction_timeout, "transaction.max.timeout.ms", True),
        ("heartbeat", worker.heartbeat, "transactional.id.expiration.ms", True),
    ):
        bound = int(found[name])
        if milliseconds > bound if above else milliseconds < bound:
            side = "above" if above else "below"
            advice = f"set worker.{ours} to {bound}ms, or change the broker"
            yield Check("fail", name, f"worker.{ours} is {side} its {bound} ms", advice)
    replicas = int(found["transaction.state.log.replication.factor"])
    if replicas < min(3, brokers):
        advice = "a lost disk would lose transactions; raise it before there is state"
        yield Check("warn", "transaction.state.log.replication.factor", str(replicas), advice)
    if int(found["producer.id.expiration.ms"]) > DAY:
        advice = "keep it at or below delete.retention.ms of the state topic (24 h)"
        yield Check("warn", "producer.id.expiration.ms", "above 24 h", advice)
    if found["auto.create.topics.enable"] == "true":
        advice = "a misspelt topic name is created instead of refused; set it to false"
        yield Check("warn", "auto.create.topics.enable", "true", advice)
