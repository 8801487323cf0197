"""Asks a cluster what the principal may do. It reads, and creates nothing.

Clients tell of a missing right late and in many voices: a transaction's state that is wrong, a
topic that is not there, an empty answer. The brokers say it plainly to whoever asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final, get_args

from aiokafka.client import AIOKafkaClient, CoordinationType
from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    CoordinatorNotAvailableError,
    GroupAuthorizationFailedError,
    InvalidTxnState,
    KafkaError,
    NoError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
)

from bridge.errors import BridgeError, ClusterError, NotAuthorized, TopicsWrong, Unreachable
from bridge.kafka.access_requests import AllowedOnGroup, AllowedOnTopics
from bridge.kafka.clients import ClientSettings, kill, make_client, start_client
from bridge.kafka.rights import Access, Operation, Right

ANSWER_S: Final = 10.0
"""What a look takes at most: it comes after a failure, and must not become one of its own."""

_REFUSALS: Final = (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    InvalidTxnState,  # what the client makes of a topic that it could not add to a transaction
    NotAuthorized,
    TopicAuthorizationFailedError,
    TopicsWrong,  # a topic that may not be seen is not in the list of topics
    TransactionalIdAuthorizationFailed,
)
_BITS: Final[dict[Operation, int]] = {
    "Read": 3,
    "Write": 4,
    "Create": 5,
    "Describe": 8,
    "DescribeConfigs": 10,
}
_UNTOLD: Final = -(2**31)  # of brokers that do not tell
assert _BITS.keys() == set(get_args(Operation))


def may_be_refused(error: BaseException | None) -> bool:
    """Whether a missing right can be what an error comes from, and is not named yet."""
    if isinstance(error, NotAuthorized) and error.named:
        return False
    while error is not None:
        if isinstance(error, _REFUSALS):
            return True
        error = error.__cause__ or error.__context__
    return False


async def explained(client: ClientSettings, access: Access | None, error: Exception) -> Exception:
    """The error, or what is behind it where that is a missing right: NotAuthorized."""
    if access is None or not may_be_refused(error):
        return error
    try:
        lacking = await missing(client, access.needed)
    except BridgeError:
        return error
    return access.principal.refusal(lacking) if lacking else error


async def missing(client: ClientSettings, rights: Iterable[Right]) -> tuple[Right, ...]:
    """Which of the rights the principal does not have, in their order.

    A topic that is not there counts as allowed, and so does all that brokers before Kafka 2.3 do
    not tell. Raises Unreachable, LoginFailed or ClusterError.
    """
    wanted = list(rights)
    connection = make_client(client)
    await start_client(connection, ANSWER_S)
    try:
        async with asyncio.timeout(ANSWER_S):
            refused = {
                *await _refused_topics(connection, [r for r in wanted if r.kind == "topic"]),
                *[r for r in wanted if r.kind != "topic" and await _is_refused(connection, r)],
            }
    except NotImplementedError:  # the client's word for a version that brokers do not have
        return ()
    except TimeoutError as error:
        raise Unreachable(f"No answer within {ANSWER_S:g} s what is allowed") from error
    except KafkaError as error:
        raise ClusterError(f"The brokers did not tell what is allowed: {error!r}") from error
    finally:
        await kill(connection)
    return tuple(right for right in wanted if right in refused)


async def _refused_topics(connection: AIOKafkaClient, wanted: Sequence[Right]) -> list[Right]:
    if not wanted:
        return []
    names = dict.fromkeys(right.name for right in wanted)
    answer = await connection.send(connection.get_random_node(), AllowedOnTopics(names))
    allowed = {topic: (code, bits) for code, topic, _, _, bits in answer.topics}
    return [right for right in wanted if refuses(*allowed[right.name], right)]


def refuses(code: int, bits: int, right: Right) -> bool:
    """What an answer says of a right: its error, and the operations that are allowed."""
    if code in (TopicAuthorizationFailedError.errno, GroupAuthorizationFailedError.errno):
        return True
    answered = code == NoError.errno and bits != _UNTOLD
    return answered and not bits & (1 << _BITS[right.operation])


async def _is_refused(connection: AIOKafkaClient, right: Right) -> bool:
    """A right on a group or an id: its coordinator tells, or says nothing without Describe on it,
    which Write on a transactional id holds.
    """
    if right.kind == "transactional-id":
        return await _coordinator(connection, CoordinationType.TRANSACTION, right.name) is None
    node = await _coordinator(connection, CoordinationType.GROUP, right.name)
    if node is None:
        return True
    (group,) = (await connection.send(node, AllowedOnGroup(right.name))).groups
    return refuses(group[0], group[-1], right)


async def _coordinator(connection: AIOKafkaClient, kind: int, name: str) -> int | None:
    """Its node; None where the principal may not ask for it."""
    while True:
        try:
            node: int = await connection.coordinator_lookup(kind, name)
            return node
        except (GroupAuthorizationFailedError, TransactionalIdAuthorizationFailed):
            return None
        except CoordinatorNotAvailableError:  # the first to ask makes the coordinators' topic
            await asyncio.sleep(0.1)
        except KafkaError as error:
            if not error.retriable:
                raise
            await asyncio.sleep(0.1)
