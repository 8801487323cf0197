"""What brokers' answers say of a right, and which errors may come from one that is missing."""

from __future__ import annotations

import pytest
from aiokafka.errors import (
    GroupAuthorizationFailedError,
    InvalidTxnState,
    KafkaError,
    TopicAuthorizationFailedError,
)

from bridge.errors import NotAuthorized, TopicsWrong, TransactionFailed
from bridge.kafka.access import may_be_refused, refuses
from bridge.kafka.rights import Principal, Right

READ = Right("Read", "topic", "t")
READ_AND_DESCRIBE = 1 << 3 | 1 << 8
REFUSAL = Principal("User:bridge", "kafka:9093").refusal([READ])


@pytest.mark.parametrize(
    ("code", "bits", "refused"),
    [
        (0, READ_AND_DESCRIBE, False),
        (0, 1 << 8, True),
        (TopicAuthorizationFailedError.errno, -(2**31), True),
        (GroupAuthorizationFailedError.errno, -(2**31), True),
        (3, -(2**31), False),  # not there
        (0, -(2**31), False),  # a broker that does not tell
    ],
)
def test_an_answer_refuses_what_it_does_not_allow(code: int, bits: int, refused: bool) -> None:
    assert refuses(code, bits, READ) == refused


@pytest.mark.parametrize("behind", [TopicAuthorizationFailedError("t"), InvalidTxnState()])
def test_a_refusal_is_found_behind_what_the_client_makes_of_it(behind: KafkaError) -> None:
    error = TransactionFailed("nothing was written")
    error.__cause__ = KafkaError("wrapped")
    error.__cause__.__cause__ = behind
    assert may_be_refused(error)


def test_other_faults_ask_the_brokers_nothing() -> None:
    assert not may_be_refused(TransactionFailed("no answer"))
    assert not may_be_refused(TimeoutError())


def test_what_is_named_already_is_not_asked_again() -> None:
    assert not may_be_refused(REFUSAL)
    assert may_be_refused(NotAuthorized("the client says so"))
    assert may_be_refused(TopicsWrong("no topic, or none that may be seen"))
