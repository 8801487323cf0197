"""The time by the cluster's own clock, for who writes nothing (DescribeQuorum, KIP-836, Kafka 3.3).

No other answer of a broker holds its present time. It is the clock of the controller that leads,
and the principal needs DESCRIBE on the cluster: where either is missing there is no answer.
"""

from __future__ import annotations

import asyncio
from typing import Final

from aiokafka.errors import IncompatibleBrokerVersion, KafkaError, NoError
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import (
    CompactArray,
    CompactString,
    Int16,
    Int32,
    Int64,
    Schema,
    TaggedFields,
)

from bridge.core.model import Millis
from bridge.kafka.clients import ClientSettings, kill, make_client, start_client

_METADATA: Final = "__cluster_metadata"
_WITHIN_S: Final = 2.0  # it is a nicety: nobody waits long for it

_REPLICAS: Final = CompactArray(
    ("replica_id", Int32),
    ("log_end_offset", Int64),
    ("last_fetch_timestamp", Int64),
    ("last_caught_up_timestamp", Int64),
    ("tags", TaggedFields),
)


class _QuorumResponse(Response):  # type: ignore[misc]  # aiokafka ships no types
    API_KEY = 55
    API_VERSION = 1
    SCHEMA = Schema(
        ("error_code", Int16),
        (
            "topics",
            CompactArray(
                ("topic", CompactString()),
                (
                    "partitions",
                    CompactArray(
                        ("partition_index", Int32),
                        ("error_code", Int16),
                        ("leader_id", Int32),
                        ("leader_epoch", Int32),
                        ("high_watermark", Int64),
                        ("current_voters", _REPLICAS),
                        ("observers", _REPLICAS),
                        ("tags", TaggedFields),
                    ),
                ),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class _QuorumRequest(RequestStruct):  # type: ignore[misc]  # aiokafka ships no types
    FLEXIBLE_VERSION = True
    API_KEY = 55
    API_VERSION = 1
    RESPONSE_TYPE = _QuorumResponse
    SCHEMA = Schema(
        (
            "topics",
            CompactArray(
                ("topic", CompactString()),
                ("partitions", CompactArray(("partition_index", Int32), ("tags", TaggedFields))),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class _DescribeQuorum(Request[_QuorumRequest]):  # type: ignore[misc]  # aiokafka ships no types
    API_KEY = 55

    def build(self, layout: type[_QuorumRequest]) -> _QuorumRequest:
        return layout([(_METADATA, [(0, {})], {})], {})


async def cluster_time(client: ClientSettings) -> Millis | None:
    """Milliseconds since the epoch as the request is answered; None where the cluster won't say.

    Raises Unreachable, or ClusterError where the client cannot start.
    """
    connection = make_client(client)
    await start_client(connection)
    try:
        async with asyncio.timeout(_WITHIN_S):
            answer = await connection.send(connection.get_random_node(), _DescribeQuorum())
    except (IncompatibleBrokerVersion, KafkaError, TimeoutError):
        return None
    finally:
        await kill(connection)
    # A leader says of itself that it has caught up now.
    for _topic, partitions, _ in answer.topics:
        for _index, code, leader, _epoch, _high, voters, _observers, _ in partitions:
            for replica, _end, _fetched, caught_up, _ in voters:
                if code == NoError.errno and replica == leader and caught_up > 0:
                    return int(caught_up)
    return None
