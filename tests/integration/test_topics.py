"""Creating and checking topics on a real broker, wrong clusters included."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from aiokafka.admin import NewTopic

from bridge.errors import ClusterError, TopicsWrong, Unreachable
from bridge.kafka.topic_admin import check, connected, create, facts
from bridge.kafka.topics import Wanted, refuse
from bridge.records.topics import ROLES, Topics
from tests.topics import MakeTopics, create_topics

Unique = Callable[[str], str]


@pytest.fixture
def wanted(bootstrap: str, unique: Unique) -> Wanted:
    names = Topics({role: unique(role) for role in ROLES})
    return Wanted(names, (unique("runs"),), 4, bootstrap)


@pytest.fixture
async def input_topic(bootstrap: str, wanted: Wanted) -> str:
    (name,) = wanted.inputs
    await create_topics(bootstrap, [NewTopic(name, 3, 1)])
    return name


def client(bootstrap: str) -> dict[str, str]:
    return {"bootstrap_servers": bootstrap}


async def test_created_topics_pass_the_check(
    bootstrap: str, wanted: Wanted, input_topic: str
) -> None:
    """What `create` makes is what `check` wants, in the broker's own words."""
    created = await create(client(bootstrap), wanted)
    assert set(created.made) == set(wanted.names.values())
    assert await check(client(bootstrap), wanted) == ()


async def test_creating_twice_changes_nothing(
    bootstrap: str, wanted: Wanted, input_topic: str
) -> None:
    """A second call finds all topics there; one that was missing in between comes back."""
    await create(client(bootstrap), wanted)
    again = await create(client(bootstrap), wanted)
    assert again.made == ()
    assert set(again.existed) == set(wanted.names.values())
    assert await check(client(bootstrap), wanted) == ()


async def test_a_missing_input_is_a_finding_and_is_not_created(
    bootstrap: str, wanted: Wanted
) -> None:
    """Input topics are the platform team's: neither create nor check brings one into being."""
    await create(client(bootstrap), wanted)
    (finding,) = await check(client(bootstrap), wanted)
    assert (finding.code, finding.topic) == ("missing", wanted.inputs[0])
    async with connected(client(bootstrap)) as admin:
        assert await facts(admin, wanted.inputs) == {}


async def test_a_state_topic_with_another_partition_count_is_refused(
    bootstrap: str, wanted: Wanted, input_topic: str
) -> None:
    """State written with other N would put threads on wrong slots: the start is refused."""
    await create(client(bootstrap), wanted)
    other = dataclasses.replace(wanted, partitions=6)
    findings = await check(client(bootstrap), other)
    state = next(finding for finding in findings if finding.topic == wanted.names["state"])
    assert (state.code, state.found, state.wanted) == ("partitions", "4", "6")
    with pytest.raises(TopicsWrong, match=r"set topics\.partitions = 4"):
        refuse(findings)


async def test_a_state_topic_that_deletes_is_refused(
    bootstrap: str, wanted: Wanted, input_topic: str
) -> None:
    """A deleting state topic would forget open runs; `create` leaves it, `check` refuses it."""
    name = wanted.names["state"]
    await create_topics(bootstrap, [NewTopic(name, 4, 1)])
    assert name in (await create(client(bootstrap), wanted)).existed
    findings = await check(client(bootstrap), wanted)
    assert {finding.code for finding in findings} == {"cleanup_policy", "timestamp_type"}
    with pytest.raises(TopicsWrong, match=r"--add-config cleanup\.policy=compact"):
        refuse(findings)


async def test_reroute_takes_what_the_largest_input_takes(
    bootstrap: str, wanted: Wanted, input_topic: str, make_topics: MakeTopics
) -> None:
    """An input made for large records raises the limit that `create` gives to reroute."""
    large = (await make_topics("large", config={"max.message.bytes": "3000000"}))["large"]
    both = dataclasses.replace(wanted, inputs=(input_topic, large))
    await create(client(bootstrap), both)
    async with connected(client(bootstrap)) as admin:
        found = await facts(admin, [wanted.names["reroute"]])
    assert found[wanted.names["reroute"]].number("max.message.bytes") == 3_065_536
    assert await check(client(bootstrap), both) == ()


async def test_a_topic_that_cannot_be_created_is_named(bootstrap: str, wanted: Wanted) -> None:
    """The call itself does not raise for a topic: its code must not pass unseen."""
    with pytest.raises(ClusterError, match=r"was not created: .*replication factor"):
        await create(client(bootstrap), wanted, replication=3)


async def test_no_cluster_is_an_error_with_an_address() -> None:
    """Nothing listens: the error is ours, and says where it looked."""
    wanted = Wanted(Topics.under(""), (), 4)
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:1"):
        await check(client("127.0.0.1:1"), wanted)
