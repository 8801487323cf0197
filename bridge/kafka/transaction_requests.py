"""Two requests that aiokafka does not have, in its own way of writing them (KIP-664, Kafka 3.0).

DescribeTransactions asks a coordinator how the last transaction of an id stands; DescribeProducers
asks a partition's leader who has a transaction open there.
"""

from __future__ import annotations

from collections.abc import Iterable

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
from aiokafka.structs import TopicPartition


class _DescribeProducersResponse(Response):  # type: ignore[misc]  # aiokafka ships no types
    API_KEY = 61
    API_VERSION = 0
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "topics",
            CompactArray(
                ("name", CompactString()),
                (
                    "partitions",
                    CompactArray(
                        ("partition_index", Int32),
                        ("error_code", Int16),
                        ("error_message", CompactString()),
                        (
                            "active_producers",
                            CompactArray(
                                ("producer_id", Int64),
                                ("producer_epoch", Int32),
                                ("last_sequence", Int32),
                                ("last_timestamp", Int64),
                                ("coordinator_epoch", Int32),
                                ("current_txn_start_offset", Int64),
                                ("tags", TaggedFields),
                            ),
                        ),
                        ("tags", TaggedFields),
                    ),
                ),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class _DescribeProducersRequest(RequestStruct):  # type: ignore[misc]  # aiokafka ships no types
    FLEXIBLE_VERSION = True
    API_KEY = 61
    API_VERSION = 0
    RESPONSE_TYPE = _DescribeProducersResponse
    SCHEMA = Schema(
        (
            "topics",
            CompactArray(
                ("name", CompactString()),
                ("partition_indexes", CompactArray(Int32)),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class DescribeProducers(Request[_DescribeProducersRequest]):  # type: ignore[misc]
    """Of partitions that one broker leads."""

    API_KEY = 61

    def __init__(self, partitions: Iterable[TopicPartition]) -> None:
        self._topics: dict[str, list[int]] = {}
        for partition in partitions:
            self._topics.setdefault(partition.topic, []).append(partition.partition)

    def build(self, layout: type[_DescribeProducersRequest]) -> _DescribeProducersRequest:
        topics: list[tuple[str, list[int], dict[int, bytes]]]
        topics = [(name, numbers, {}) for name, numbers in self._topics.items()]
        return layout(topics, {})


class _DescribeTransactionsResponse(Response):  # type: ignore[misc]  # aiokafka ships no types
    API_KEY = 65
    API_VERSION = 0
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "transaction_states",
            CompactArray(
                ("error_code", Int16),
                ("transactional_id", CompactString()),
                ("transaction_state", CompactString()),
                ("transaction_timeout_ms", Int32),
                ("transaction_start_time_ms", Int64),
                ("producer_id", Int64),
                ("producer_epoch", Int16),
                (
                    "topics",
                    CompactArray(
                        ("topic", CompactString()),
                        ("partitions", CompactArray(Int32)),
                        ("tags", TaggedFields),
                    ),
                ),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class _DescribeTransactionsRequest(RequestStruct):  # type: ignore[misc]  # aiokafka ships no types
    FLEXIBLE_VERSION = True
    API_KEY = 65
    API_VERSION = 0
    RESPONSE_TYPE = _DescribeTransactionsResponse
    SCHEMA = Schema(("transactional_ids", CompactArray(CompactString())), ("tags", TaggedFields))


class DescribeTransactions(Request[_DescribeTransactionsRequest]):  # type: ignore[misc]
    """Of one id, to be sent to its coordinator."""

    API_KEY = 65

    def __init__(self, transactional_id: str) -> None:
        self._transactional_id = transactional_id

    def build(self, layout: type[_DescribeTransactionsRequest]) -> _DescribeTransactionsRequest:
        return layout([self._transactional_id], {})
