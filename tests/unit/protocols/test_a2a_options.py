"""Settings of an A2A source: what is accepted, and that a refusal never repeats a value."""

from __future__ import annotations

import pytest

from bridge.protocols.a2a import A2a


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"endpont": "x"}, "no option endpont"),
        ({"agent": 5}, "option agent must be a string"),
        ({"agent": ""}, "option agent must be a string"),
        ({"protocol_version": "0.2"}, "one of 1.0, 0.3"),
        ({"binding": "grpc"}, "one of jsonrpc, rest"),
        ({"answer_shape": "form"}, "one of plain"),
        ({"input_required_filter": "yes"}, "one of none"),
        ({"endpoint": "ftp://x"}, "http or https"),
        ({"endpoint": "https://"}, "http or https"),
        ({"endpoint": "https://u:hunter2@x.example"}, "no user"),
        ({"endpoint": "https://x.example?key=hunter2"}, "no user"),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, object], words: str) -> None:
    """With the option's name."""
    with pytest.raises(ValueError, match=words) as refused:
        A2a().configured(options)
    assert "hunter2" not in str(refused.value)


def test_every_setting_is_optional() -> None:
    """A source may say nothing at all, or everything."""
    A2a().configured({})
    A2a().configured(
        {
            "endpoint": "http://127.0.0.1:8080/a2a",
            "tenant": "t",
            "agent": "a",
            "protocol_version": "0.3",
            "binding": "rest",
            "answer_shape": "adk",
            "input_required_filter": "without_items",
        }
    )
