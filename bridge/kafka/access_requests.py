"""Two requests in the versions that tell what is allowed (KIP-430, Kafka 2.3).

aiokafka ends at Metadata 5, and reads the answer of DescribeGroups 3 as one of version 2.
"""

from __future__ import annotations

from collections.abc import Iterable

from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Array, Boolean, Bytes, Int16, Int32, Schema, String


class _MetadataResponse(Response):  # type: ignore[misc]  # aiokafka ships no types
    API_KEY = 3
    API_VERSION = 8
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "brokers",
            Array(
                ("node_id", Int32),
                ("host", String("utf-8")),
                ("port", Int32),
                ("rack", String("utf-8")),
            ),
        ),
        ("cluster_id", String("utf-8")),
        ("controller_id", Int32),
        (
            "topics",
            Array(
                ("error_code", Int16),
                ("topic", String("utf-8")),
                ("is_internal", Boolean),
                (
                    "partitions",
                    Array(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", Array(Int32)),
                        ("isr", Array(Int32)),
                        ("offline_replicas", Array(Int32)),
                    ),
                ),
                ("authorized_operations", Int32),
            ),
        ),
        ("cluster_authorized_operations", Int32),
    )


class _MetadataRequest(RequestStruct):  # type: ignore[misc]  # aiokafka ships no types
    API_KEY = 3
    API_VERSION = 8
    RESPONSE_TYPE = _MetadataResponse
    SCHEMA = Schema(
        ("topics", Array(String("utf-8"))),
        ("allow_auto_topic_creation", Boolean),
        ("include_cluster_authorized_operations", Boolean),
        ("include_topic_authorized_operations", Boolean),
    )


class AllowedOnTopics(Request[_MetadataRequest]):  # type: ignore[misc]
    """Metadata of topics by name, with what the principal may do; it creates none of them."""

    API_KEY = 3

    def __init__(self, topics: Iterable[str]) -> None:
        self._topics = list(topics)

    def build(self, layout: type[_MetadataRequest]) -> _MetadataRequest:
        return layout(self._topics, False, False, True)


class _GroupsResponse(Response):  # type: ignore[misc]  # aiokafka ships no types
    API_KEY = 15
    API_VERSION = 3
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "groups",
            Array(
                ("error_code", Int16),
                ("group", String("utf-8")),
                ("state", String("utf-8")),
                ("protocol_type", String("utf-8")),
                ("protocol", String("utf-8")),
                (
                    "members",
                    Array(
                        ("member_id", String("utf-8")),
                        ("client_id", String("utf-8")),
                        ("client_host", String("utf-8")),
                        ("member_metadata", Bytes),
                        ("member_assignment", Bytes),
                    ),
                ),
                ("authorized_operations", Int32),
            ),
        ),
    )


class _GroupsRequest(RequestStruct):  # type: ignore[misc]  # aiokafka ships no types
    API_KEY = 15
    API_VERSION = 3
    RESPONSE_TYPE = _GroupsResponse
    SCHEMA = Schema(("groups", Array(String("utf-8"))), ("include_authorized_operations", Boolean))


class AllowedOnGroup(Request[_GroupsRequest]):  # type: ignore[misc]
    """Of one group, with what the principal may do; to be sent to its coordinator."""

    API_KEY = 15

    def __init__(self, group: str) -> None:
        self._group = group

    def build(self, layout: type[_GroupsRequest]) -> _GroupsRequest:
        return layout([self._group], True)
