"""What the client logs of a start that failed, as what to do about it."""

from __future__ import annotations

import pytest

from bridge.errors import ClusterError, LoginFailed, Unreachable
from bridge.kafka.doorstep import turned_away

AT = 'Unable connect to "kafka-1:9093": '


@pytest.mark.parametrize(
    ("logged", "kind", "said"),
    [
        ([AT + "[Error 58] SaslAuthenticationFailed: no"], LoginFailed, "sasl_plain_username"),
        ([AT + "[SSL: WRONG_VERSION_NUMBER] wrong version number"], LoginFailed, "speak no TLS"),
        ([AT + "[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] tlsv13"], LoginFailed, "ssl_certfile"),
        (
            [AT + "KafkaConnectionError: Connection at k:9093 closed"],
            Unreachable,
            "Where they are up",
        ),
        (
            [AT + "[Errno 111] Connect call failed ('10.0.0.1', 9093)"],
            Unreachable,
            "No broker can be reached",
        ),
        ([AT + "[Errno 111] Connection refused"], Unreachable, "No broker can be reached"),
        ([AT], Unreachable, "No broker answers in time"),
        ([], Unreachable, "the client logged no reason"),
    ],
)
def test_a_reason_becomes_what_to_do(
    logged: list[str], kind: type[ClusterError], said: str
) -> None:
    error = turned_away([*logged, *logged])
    assert type(error) is kind
    assert said in str(error)
    assert str(error).count(AT.rstrip(": ")) <= 1, "a reason is told once"
