"""Lenient members of JSON objects: what is forgiven is noted, what is not has its place."""

from __future__ import annotations

import pytest

from bridge.protocols.fields import Fields, Unreadable, snake_case


@pytest.mark.parametrize(
    ("camel", "snake"),
    [
        ("threadId", "thread_id"),
        ("pendingToolCallIds", "pending_tool_call_ids"),
        ("id", "id"),
    ],
)
def test_snake_case_of_protocol_names(camel: str, snake: str) -> None:
    """The names Python models use for the same fields."""
    assert snake_case(camel) == snake


def test_the_pointer_names_the_member_as_it_was_written() -> None:
    """A person looks for the spelling that stands in the record."""
    with pytest.raises(Unreadable) as caught:
        Fields({"tool_call_id": 7}, "/outcome", set()).text("toolCallId")
    assert caught.value.refusal.pointer == "/outcome/tool_call_id"


def test_what_was_forgiven_is_noted_once() -> None:
    """Absent members are nothing to note."""
    seen: set[str] = set()
    fields = Fields({"a": None, "b": None, "the_name": "x"}, "", seen)
    assert (fields.text("a"), fields.object("b"), fields.text("none")) == (None, None, None)
    assert seen == {"null_field"}
    assert fields.text("theName") == "x"
    assert seen == {"null_field", "snake_case"}
