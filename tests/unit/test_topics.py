"""What is needed of the topics, compared with what was found: one finding for each difference."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.errors import TopicsWrong
from bridge.kafka.topics import (
    CHECKED_CONFIGS,
    ENVELOPE_BYTES,
    TopicFacts,
    Wanted,
    compare,
    envelope_limit,
    refuse,
    settings,
)
from bridge.records.outgoing import BROKER_MESSAGE_BYTES
from bridge.records.topics import ROLES, TOPICS, Role, Topics

N = 4
INPUT = "agents.run-finished"
WANTED = Wanted(Topics.under("bridge."), (INPUT,), N, "broker:9092")
BROKER_DEFAULTS = {
    "cleanup.policy": "delete",
    "delete.retention.ms": "86400000",
    "max.message.bytes": str(BROKER_MESSAGE_BYTES),
    "message.timestamp.type": "CreateTime",
    "min.insync.replicas": "1",
    "retention.ms": "604800000",
}


def cluster(replicas: int = 3) -> dict[str, TopicFacts]:
    """A cluster as `topics create` makes it, with an input topic of broker defaults."""
    limit = BROKER_MESSAGE_BYTES + ENVELOPE_BYTES
    own = {
        WANTED.names[role]: TopicFacts(
            WANTED.names[role], N, replicas, {**BROKER_DEFAULTS, **settings(topic, replicas, limit)}
        )
        for role, topic in TOPICS.items()
    }
    return {**own, INPUT: TopicFacts(INPUT, 3, replicas, BROKER_DEFAULTS)}


def with_config(role: Role, **configs: str) -> dict[str, TopicFacts]:
    found = cluster()
    topic = found[WANTED.names[role]]
    changed = {name.replace("_", "."): value for name, value in configs.items()}
    found[topic.name] = replace(topic, configs={**(topic.configs or {}), **changed})
    return found


def with_partitions(**partitions: int) -> dict[str, TopicFacts]:
    found = cluster()
    for role, count in partitions.items():
        name = WANTED.names[role.replace("_", "-")]
        found[name] = replace(found[name], partitions=count)
    return found


@pytest.mark.parametrize("replicas", [1, 2, 3, 5])
def test_what_create_makes_passes_the_check(replicas: int) -> None:
    """The settings given by create and those wanted by check are one truth, for any replication."""
    assert compare(WANTED, cluster(replicas)) == ()


def test_broker_defaults_do_not_pass_as_our_topics() -> None:
    """Topics that a broker made by itself lack what the guarantees stand on."""
    found = {
        name: TopicFacts(name, N, 1, BROKER_DEFAULTS) for name in (*WANTED.names.values(), INPUT)
    }
    codes = {(finding.topic, finding.code) for finding in compare(WANTED, found)}
    assert ("bridge.state", "cleanup_policy") in codes
    assert ("bridge.state", "timestamp_type") in codes
    assert ("bridge.answers", "timestamp_type") in codes
    assert ("bridge.approvals", "delete_retention") in codes
    assert ("bridge.resume-commands", "retention") in codes
    assert ("bridge.reroute", "message_size") in codes


@pytest.mark.parametrize(
    ("role", "configs", "code", "change"),
    [
        ("state", {"cleanup_policy": "delete"}, "cleanup_policy", "cleanup.policy=compact"),
        ("state", {"cleanup_policy": "compact,delete"}, "cleanup_policy", "cleanup.policy=compact"),
        ("reroute", {"cleanup_policy": "compact"}, "cleanup_policy", "cleanup.policy=delete"),
        (
            "state",
            {"delete_retention_ms": "86399999"},
            "delete_retention",
            "delete.retention.ms=86400000",
        ),
        (
            "approvals",
            {"delete_retention_ms": "604799999"},
            "delete_retention",
            "delete.retention.ms=604800000",
        ),
        ("dead-letters", {"retention_ms": "2591999999"}, "retention", "retention.ms=2592000000"),
        ("approvals", {"min_insync_replicas": "1"}, "min_isr", "min.insync.replicas=2"),
        ("approvals", {"min_insync_replicas": "4"}, "min_isr", "min.insync.replicas=2"),
    ],
)
def test_a_wrong_setting_is_one_finding_with_its_command(
    role: Role, configs: dict[str, str], code: str, change: str
) -> None:
    """A single setting off gives exactly one finding, and the command sets only that one."""
    (finding,) = compare(WANTED, with_config(role, **configs))
    name = WANTED.names[role]
    assert (finding.code, finding.topic, finding.wanted) == (code, name, change)
    assert finding.mend == (
        "kafka-configs.sh --bootstrap-server broker:9092 --alter "
        f"--entity-type topics --entity-name {name} --add-config {change}"
    )


@pytest.mark.parametrize("role", ROLES)
def test_no_topic_of_ours_is_stamped_by_whoever_writes(role: Role) -> None:
    """Brokers refuse the stamps of a worker whose clock is an hour ahead."""
    (finding,) = compare(WANTED, with_config(role, message_timestamp_type="CreateTime"))
    assert (finding.code, finding.topic) == ("timestamp_type", WANTED.names[role])
    assert finding.mend.endswith("--add-config message.timestamp.type=LogAppendTime")


def test_retention_without_end_is_long_enough() -> None:
    """-1 is Kafka's word for keeping records for ever, not a short time."""
    assert compare(WANTED, with_config("reroute", retention_ms="-1")) == ()


def test_reroute_holds_the_largest_input_in_its_envelope() -> None:
    """Where an input takes larger records than the default, reroute must take them and headers."""
    found = cluster()
    found[INPUT] = replace(
        found[INPUT], configs={**BROKER_DEFAULTS, "max.message.bytes": "5000000"}
    )
    (finding,) = compare(WANTED, found)
    assert (finding.code, finding.topic) == ("message_size", "bridge.reroute")
    assert finding.wanted == "max.message.bytes=5065536"
    assert envelope_limit([found[INPUT]]) == 5_065_536


def test_missing_topics_name_who_creates_them() -> None:
    """Our own come from `topics create`; an input belongs to the team that writes it."""
    found = cluster()
    del found["bridge.state"], found[INPUT]
    theirs, ours = compare(WANTED, found)
    assert (theirs.code, theirs.topic) == ("missing", INPUT)
    assert theirs.mend.endswith(f"--create --topic {INPUT} --partitions {WANTED.partitions}")
    assert (ours.code, ours.topic, ours.mend) == (
        "missing",
        "bridge.state",
        "interrupt-bridge topics create",
    )


def test_inputs_may_have_any_number_of_partitions() -> None:
    """Every input partition is mapped to a slot, fewer or more than N alike."""
    found = with_partitions(answers=1, operations=17)
    found[INPUT] = replace(found[INPUT], partitions=50)
    assert compare(WANTED, found) == ()


def test_too_few_partitions_are_added() -> None:
    """An output with fewer partitions than slots can be grown in place."""
    (finding,) = compare(WANTED, with_partitions(approvals=2))
    assert (finding.code, finding.found, finding.wanted) == ("partitions", "2", "4")
    assert finding.mend.endswith("--alter --topic bridge.approvals --partitions 4")


def test_dead_letters_may_have_more_partitions_than_slots_but_not_fewer() -> None:
    """A slot writes to the partition of its number, which must exist."""
    assert compare(WANTED, with_partitions(dead_letters=9)) == ()
    (finding,) = compare(WANTED, with_partitions(dead_letters=3))
    assert (finding.code, finding.wanted) == ("partitions", "at least 4")


def test_a_state_topic_of_other_size_is_never_altered() -> None:
    """Threads have their home by N: the state topic's count is the truth, the settings follow."""
    (finding,) = compare(WANTED, with_partitions(state=6))
    assert (finding.code, finding.topic) == ("partitions", "bridge.state")
    assert finding.mend == "set topics.partitions = 6 in the configuration"


def test_unreadable_settings_are_told_but_do_not_refuse() -> None:
    """Without DescribeConfigs nothing can be compared; a worker with least rights still starts."""
    found = cluster()
    found["bridge.state"] = replace(found["bridge.state"], configs=None)
    (finding,) = compare(WANTED, found)
    assert (finding.code, finding.refuses) == ("configs_unreadable", False)
    refuse([finding])


def test_refusing_names_every_topic_and_its_mend() -> None:
    """One error tells all that is wrong, so that it is mended in one go."""
    findings = compare(WANTED, with_partitions(state=6, approvals=2))
    with pytest.raises(TopicsWrong) as refused:
        refuse(findings)
    for finding in findings:
        assert finding.topic in str(refused.value)
        assert finding.mend in str(refused.value)


def test_no_setting_is_compared_that_is_not_read() -> None:
    """The check asks the cluster for exactly the settings that findings may name."""
    named = {
        finding.wanted.partition("=")[0]
        for role in TOPICS
        for finding in compare(
            WANTED, with_config(role, **{c.replace(".", "_"): "0" for c in CHECKED_CONFIGS})
        )
    }
    assert named == set(CHECKED_CONFIGS)
