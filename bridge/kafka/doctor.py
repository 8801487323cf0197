"""Looks a deployment over as a worker would meet it, and says what to do about what it finds.

Harmless to a deployment at work: it reads, and writes one transaction of two tombstones under keys
that nobody uses, with a transactional id that no slot has.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final, Literal

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import (
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    KafkaError,
)

from bridge.config import Config, Worker
from bridge.errors import BridgeError
from bridge.kafka import topic_admin
from bridge.kafka.names import group_id, transactional_id
from bridge.kafka.positions import Inputs, Standing, standings
from bridge.kafka.topics import DAY, Wanted
from bridge.kafka.transaction import SlotProducer
from bridge.records.outgoing import Outgoing

Grade = Literal["ok", "warn", "fail"]

KEY: Final = b"__bridge/doctor"
"""Of the tombstones it writes; readers skip null values of unknown keys, slots fold none."""

_CLOCK_MS: Final = 2_000  # more than any commit takes; clocks kept by NTP differ by far less
_STILL_S: Final = (
    3.0  # a slot that reads stores where it is within one, if its transactions do well
)

_BROKER_SETTINGS: Final = (
    "auto.create.topics.enable",
    "group.max.session.timeout.ms",
    "group.min.session.timeout.ms",
    "producer.id.expiration.ms",
    "transaction.max.timeout.ms",
    "transaction.state.log.replication.factor",
    "transactional.id.expiration.ms",
)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; `advice` says what to do where it is not ok."""

    grade: Grade
    subject: str
    found: str
    advice: str = ""

    def __str__(self) -> str:
        advice = f"; {self.advice}" if self.advice else ""
        return f"{self.grade:<4}  {self.subject}: {self.found}{advice}"


async def examine(config: Config, wanted: Wanted, inputs: Inputs) -> AsyncIterator[Check]:
    """Check after check; what depends on one that failed is left out. Raises ConfigError."""
    client = config.kafka.client_kwargs()
    yield _versions()
    reached = await _tried("cluster", _cluster(client, config))
    for check in reached:
        yield check
    if reached[0].grade == "fail":
        return
    topics = await _tried("topics", _topics(client, wanted))
    for check in topics:
        yield check
    if any(check.grade == "fail" for check in topics):
        return
    for subject, looking in (
        ("transaction", _transaction(client, config.app_id, wanted.names)),
        ("positions", look_at_positions(client, inputs)),
    ):
        for check in await _tried(subject, looking):
            yield check


async def _tried(subject: str, looking: Awaitable[list[Check]]) -> list[Check]:
    try:
        return await looking
    except BridgeError as error:
        return [Check("fail", subject, str(error))]
    except KafkaError as error:
        return [Check("fail", subject, repr(error), "the broker's log tells more")]


def _versions() -> Check:
    names = ("interrupt-bridge", "aiokafka")
    found = ", ".join(f"{name} {version(name)}" for name in names)
    found += f", Python {sys.version_info.major}.{sys.version_info.minor}"
    if not __debug__:
        return Check("fail", "versions", found, "run Python without -O: the client asserts")
    return Check("ok", "versions", found)


# --- The cluster --------------------------------------------------------------------------------


async def _cluster(client: Mapping[str, Any], config: Config) -> list[Check]:
    async with topic_admin.connected(client) as admin:
        cluster = await admin.describe_cluster()
        brokers = cluster["brokers"]
        first = Check("ok", "cluster", f"{len(brokers)} brokers, id {cluster['cluster_id']}")
        return [
            first,
            *await _broker_settings(admin, brokers, config.worker),
            await _group(admin, group_id(config.app_id, config.topics.name("state"))),
        ]


async def _broker_settings(
    admin: AIOKafkaAdminClient, brokers: list[dict[str, Any]], worker: Worker
) -> list[Check]:
    """Of one broker: a cluster whose brokers differ in these is beyond a look from outside."""
    filters: dict[str, Any] = dict.fromkeys(_BROKER_SETTINGS)
    node = str(brokers[0]["node_id"])
    asked = [ConfigResource(ConfigResourceType.BROKER, node, filters)]
    (answer,) = await admin.describe_configs(asked)
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


async def _group(admin: AIOKafkaAdminClient, name: str) -> Check:
    try:
        (answer,) = await admin.describe_consumer_groups([name])
    except GroupAuthorizationFailedError:
        return Check("fail", "workers", f"no Read on the group {name}", "see topics")
    except GroupCoordinatorNotAvailableError:
        return Check("warn", "workers", f"the group {name} does not exist yet", "start a worker")
    (group,) = answer.to_object()["groups"]
    if group["error_code"] != 0:
        return Check("fail", "workers", f"no READ on the group {name}", "grant it")
    members = len(group["members"])
    if not members:
        return Check("warn", "workers", f"none in the group {name}", "start a worker")
    state = group["state"]
    if state != "Stable":
        return Check("warn", "workers", f"{members}, {state}", "look again in half a minute")
    return Check("ok", "workers", f"{members} in the group {name}")


# --- What stands on it --------------------------------------------------------------------------


async def _topics(client: Mapping[str, Any], wanted: Wanted) -> list[Check]:
    findings = await topic_admin.check(client, wanted)
    checks = [
        Check("fail" if finding.refuses else "warn", "topics", str(finding)) for finding in findings
    ]
    return checks or [Check("ok", "topics", "as a worker needs them")]


async def _transaction(
    client: Mapping[str, Any], app_id: str, topics: Mapping[str, str]
) -> list[Check]:
    """A transaction as a slot writes it; its stamp tells the broker's clock."""
    producer = SlotProducer(client, transactional_id(app_id, topics["state"], "doctor"), 0, topics)
    await producer.start()
    try:
        began, wall = time.monotonic(), time.time_ns() // 1_000_000
        written = await producer.commit(
            [Outgoing("state", KEY, None), Outgoing("approvals", KEY, None)]
        )
        took = time.monotonic() - began
    finally:
        await producer.close()
    checks = [Check("ok", "transaction", f"state and approvals in {took * 1_000:.0f} ms")]
    if written.timestamp is not None:
        checks.append(judge_clock(written.timestamp, wall, wall + round(took * 1_000)))
    return checks


def judge_clock(stamp: int, before: int, after: int) -> Check:
    """A broker's stamp against our clock before and after; all milliseconds since the epoch."""
    ahead = before - stamp if stamp < before else min(0, after - stamp)
    side = "ahead of" if ahead >= 0 else "behind"
    found = f"this machine is {abs(ahead) / 1_000:.1f} s {side} the broker"
    if abs(ahead) < _CLOCK_MS:
        return Check("ok", "clock", found)
    advice = "deadlines go by the broker's clock: set both by NTP"
    return Check("warn", "clock", found, advice)


async def look_at_positions(client: Mapping[str, Any], inputs: Inputs) -> list[Check]:
    """Where something is left to read, two looks: a slot at work stores its positions each second.

    The group tells nothing of it: a worker whose slots stand still keeps its seat.
    """
    before = now = await standings(client, inputs)
    if any(at.lag for at in before):
        await asyncio.sleep(_STILL_S)
        now = await standings(client, inputs)
    return list(judge_positions(before, now))


def judge_positions(before: list[Standing], now: list[Standing]) -> Iterator[Check]:
    """Lost positions by slot, slots that read nothing of what there is, else what is left."""
    lost = Counter(at.slot for at in now if at.lost)
    for slot, count in sorted(lost.items()):
        advice = f"see positions show, then: positions skip --slot {slot} --to earliest"
        yield Check("fail", "positions", f"slot {slot} has lost {count}", advice)
    still = _still(before, now)
    for slot, lag in sorted(still.items()):
        if slot not in lost:
            found = f"slot {slot} has {lag} offsets left to read and reads none"
            advice = "look at the log and /readyz of its worker, or start one"
            yield Check("warn", "positions", found, advice)
    if not lost and not still:
        lag = sum(at.lag or 0 for at in now)
        yield Check("ok", "positions", f"none lost, {lag} offsets left to read")


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
