"""A source's settings for its Genkit agents, and what is wrong with wrong ones."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.protocols.genkit_turns import configured, output, questions, read, request


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"agents": "x"}, "no option agents"),
        ({"agent": 1}, "agent"),
        ({"runtime": "node"}, "runtime must be one of go, js, py"),
        ({"runtime": ["go"]}, "runtime"),
        ({"state_management": "both"}, "state_management must be one of server, client"),
        ({"tools": []}, "tools"),
        ({"tools": {"pay": 1}}, "tools.pay"),
        ({"tools": {"pay": {"actions": 1}}}, "tools.pay has no option actions"),
        ({"tools": {"pay": {"action": "deny"}}}, "tools.pay.action"),
        ({"tools": {"pay": {"output_schema": {"type": "what"}}}}, "tools.pay.output_schema"),
        ({"tools": {"pay": {"output_schema": {"$ref": "http://x/y"}}}}, "tools.pay.output_schema"),
        ({"tools": {"pay": {"resume_schema": {"type": "string"}}}}, "tools.pay.resume_schema"),
        ({"tools": {"pay": {"refusal": float("nan")}}}, "tools.pay.refusal"),
        ({"tools": {"pay": {"refusal": {1, 2}}}}, "tools.pay.refusal"),
        (
            {"tools": {"pay": {"refusal": 1, "output_schema": {"type": "string"}}}},
            "tools.pay.refusal does not fit",
        ),
        (
            {
                "tools": {
                    "pay": {"resume_schema": {"type": "object"}, "action": "respond"},
                }
            },
            "tools.pay.resume_schema is of restarts",
        ),
        ({"tools": {"pay": {"allow_revised_input": 1}}}, "tools.pay.allow_revised_input"),
        (
            {"tools": {"pay": {"allow_revised_input": True, "action": "restart"}}},
            "needs runtime = go",
        ),
        (
            {"runtime": "go", "tools": {"pay": {"allow_revised_input": True}}},
            "needs action = restart",
        ),
    ],
)
def test_a_wrong_setting_is_named(options: dict[str, Any], named: str) -> None:
    """When it is read, not when a person's answer needs it."""
    with pytest.raises(ValueError, match=named):
        configured(**options)


def test_what_holds_for_any_tool_stands_under_a_star() -> None:
    """A tool's own table takes its place as a whole."""
    genkit = configured({"*": {"refusal": "no"}, "ask": {"action": "respond"}})
    asked = questions(read(output(request(), request("ask")), genkit))
    assert [(q.flags, q.actions) for q in asked] == [
        ((), ("respond", "restart")),
        (("no_refusal",), ("respond",)),
    ]


def test_a_falsy_refusal_is_one() -> None:
    """False, 0 and the empty text are outputs too."""
    for refusal in (False, 0, ""):
        genkit = configured({"pay": {"refusal": refusal}})
        assert questions(read(output(request()), genkit))[0].flags == ()
