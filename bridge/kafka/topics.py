"""What the bridge needs of its topics, as data, and how found topics differ from it.

Pure: no client, no I/O. Reading a cluster and creating topics is next door, in `topic_admin`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from bridge.core.durations import DAY, HOUR
from bridge.errors import TopicsWrong
from bridge.kafka.rights import SOMEBODY, Access, Principal, Right
from bridge.records.outgoing import BROKER_MESSAGE_BYTES
from bridge.records.topics import TOPICS, Topic, Topics

Code = Literal[
    "missing",
    "partitions",
    "cleanup_policy",
    "timestamp_type",
    "retention",
    "delete_retention",
    "message_size",
    "min_isr",
    "configs_unreadable",
    "not_authorized",
]

_BY_BROKERS: Final = "LogAppendTime"
ENVELOPE_BYTES: Final = 64 * 1024  # origin headers around a record on its way home


# Small segments and an early cleaner keep a restore short: only closed segments are compacted.
# 16 MiB is above the floor of 1 MiB and far above what one transaction writes.
_COMPACTED: Final[Mapping[str, str]] = {
    "segment.ms": str(HOUR // 2),
    "segment.bytes": str(16 * 1024 * 1024),
    "min.cleanable.dirty.ratio": "0.1",
}

CHECKED_CONFIGS: Final = (
    "cleanup.policy",
    "delete.retention.ms",
    "max.message.bytes",
    "message.timestamp.type",
    "min.insync.replicas",
    "retention.ms",
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a configuration asks of a cluster: its topics, the inputs, N."""

    names: Topics
    inputs: tuple[str, ...]
    partitions: int
    bootstrap: str = SOMEBODY.bootstrap
    """Only for the commands in findings."""
    access: Access | None = None
    """What a worker must be allowed; None leaves it unchecked."""

    @property
    def principal(self) -> Principal:
        """Whom the commands in findings grant something."""
        return self.access.principal if self.access else replace(SOMEBODY, bootstrap=self.bootstrap)


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """One topic as found. `replicas` is the least of its partitions; configs None = unreadable."""

    name: str
    partitions: int
    replicas: int
    configs: Mapping[str, str] | None

    def number(self, config: str) -> int | None:
        """A numeric setting; None where it could not be read."""
        value = (self.configs or {}).get(config)
        return None if value is None else int(value)


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference: stable code, topic, what stands there, what is needed, what mends it."""

    code: Code
    topic: str
    found: str
    wanted: str
    mend: str

    @property
    def refuses(self) -> bool:
        """Whether a worker must not start on it; an unreadable setting only leaves it unchecked."""
        return self.code != "configs_unreadable"

    def __str__(self) -> str:
        if self.code == "missing":
            unseen = "does not exist, or this principal may not see it"
            return f"topic {self.topic} {unseen}: run {self.mend}"
        return f"{self.topic}: {self.code}, found {self.found}, wanted {self.wanted}: {self.mend}"


def min_isr(replicas: int) -> int:
    """One replica may be away without stopping writes, and without losing an acknowledged one."""
    return max(1, replicas - 1)


def envelope_limit(inputs: Iterable[TopicFacts | None]) -> int:
    """The `max.message.bytes` that lets every input record travel inside its origin headers."""
    limits = [facts.number("max.message.bytes") or 0 for facts in inputs if facts is not None]
    return max([BROKER_MESSAGE_BYTES, *limits]) + ENVELOPE_BYTES


def settings(need: Topic, replicas: int, message_bytes: int) -> dict[str, str]:
    """The topic settings that `topics create` gives; `message_bytes` is the envelope's limit."""
    chosen = {
        "cleanup.policy": need.cleanup,
        "message.timestamp.type": _BY_BROKERS,
        "min.insync.replicas": str(min_isr(replicas)),
        **(_COMPACTED if need.cleanup == "compact" else {"retention.ms": str(30 * DAY)}),
    }
    if need.delete_retention is not None:
        chosen["delete.retention.ms"] = str(need.delete_retention)
    if need.use == "reroute":  # whole input records travel in it, with an envelope around them
        chosen["max.message.bytes"] = str(message_bytes)
    return chosen


def compare(
    wanted: Wanted, found: Mapping[str, TopicFacts], lacking: Iterable[Right] = ()
) -> tuple[Finding, ...]:
    """Every difference between what is needed and what was found, and each right that is lacking.

    A topic that the principal may not see is no missing one.
    """
    refused = [
        Finding(
            code="not_authorized",
            topic=right.name,
            found=f"no {right}",
            wanted=right.operation,
            mend=wanted.principal.add(right),
        )
        for right in lacking
    ]
    hidden = {finding.topic for finding in refused}
    differences = _differences(wanted, found)
    return (*refused, *(d for d in differences if d.code != "missing" or d.topic not in hidden))


def _differences(wanted: Wanted, found: Mapping[str, TopicFacts]) -> list[Finding]:
    findings: list[Finding] = []
    for topic in wanted.inputs:
        if topic not in found:
            create = f"--create --topic {topic} --partitions {wanted.partitions}"
            findings.append(_missing(topic, _tool(wanted, "topics", create)))
    envelope = envelope_limit(found.get(topic) for topic in wanted.inputs)
    state = found.get(wanted.names["state"])
    for role, need in TOPICS.items():
        topic = wanted.names[role]
        facts = found.get(topic)
        if facts is None:
            findings.append(_missing(topic, "interrupt-bridge topics create"))
            continue
        findings += _partitions(wanted, need, facts, state)
        findings += _configs(wanted, need, facts, envelope)
    return findings


def refuse(findings: Iterable[Finding]) -> None:
    """Raise TopicsWrong with one line for each finding that a worker must not start on."""
    lines = [str(finding) for finding in findings if finding.refuses]
    if lines:
        raise TopicsWrong("\n".join(lines))


def _missing(topic: str, mend: str) -> Finding:
    return Finding("missing", topic, "no such topic, or none this principal may see", "it", mend)


def _partitions(
    wanted: Wanted, need: Topic, facts: TopicFacts, state: TopicFacts | None
) -> Iterator[Finding]:
    have, slots = facts.partitions, wanted.partitions
    fits = {"exact": have == slots, "at_least": have >= slots, "any": True}[need.partitions]
    if fits:
        return
    needed = f"at least {slots}" if need.partitions == "at_least" else str(slots)
    if state is not None and have == state.partitions:
        # The topics agree with each other, so the configuration is what differs.
        mend = f"set topics.partitions = {have} in the configuration"
    elif have < slots and facts is not state:
        alter = f"--alter --topic {facts.name} --partitions {slots}"
        mend = _tool(wanted, "topics", alter)
    else:
        delete = _tool(wanted, "topics", f"--delete --topic {facts.name}")
        mend = f"partitions cannot be taken away: {delete} && interrupt-bridge topics create"
    yield Finding("partitions", facts.name, str(have), needed, mend)


def _configs(wanted: Wanted, need: Topic, facts: TopicFacts, envelope: int) -> Iterator[Finding]:
    if facts.configs is None:
        mend = wanted.principal.add(Right("DescribeConfigs", "topic", facts.name))
        yield Finding("configs_unreadable", facts.name, "not authorized", "DescribeConfigs", mend)
        return
    for code, config, value, fits in _rules(need, facts, envelope):
        have = facts.configs.get(config, "nothing")
        if not fits:
            change = (
                f"--entity-type topics --entity-name {facts.name} --add-config {config}={value}"
            )
            mend = _tool(wanted, "configs", f"--alter {change}")
            yield Finding(code, facts.name, f"{config}={have}", f"{config}={value}", mend)


def _rules(
    need: Topic, facts: TopicFacts, envelope: int
) -> Iterator[tuple[Code, str, str | int, bool]]:
    """Code, setting, the value that mends it, and whether the one found will do."""
    configs = facts.configs or {}
    cleanup = configs.get("cleanup.policy")
    yield "cleanup_policy", "cleanup.policy", need.cleanup, cleanup == need.cleanup
    stamped = configs.get("message.timestamp.type")
    yield "timestamp_type", "message.timestamp.type", _BY_BROKERS, stamped == _BY_BROKERS
    if need.retention is not None:
        found = facts.number("retention.ms") or 0
        yield "retention", "retention.ms", need.retention, found == -1 or found >= need.retention
    if need.delete_retention is not None:
        found = facts.number("delete.retention.ms") or 0
        least = need.delete_retention
        yield "delete_retention", "delete.retention.ms", least, found >= least
    if need.use == "reroute":  # whole input records travel in it, with an envelope around them
        size = facts.number("max.message.bytes") or 0
        yield "message_size", "max.message.bytes", envelope, size >= envelope
    in_sync = facts.number("min.insync.replicas") or 0
    least = min_isr(facts.replicas)
    # More than there are replicas: no record could be written at all.
    yield "min_isr", "min.insync.replicas", least, least <= in_sync <= facts.replicas


def _tool(wanted: Wanted, tool: str, arguments: str) -> str:
    return f"kafka-{tool}.sh --bootstrap-server {wanted.bootstrap} {arguments}"
