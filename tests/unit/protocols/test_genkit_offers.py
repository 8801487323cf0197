"""Questions of Genkit tools and what answers they take: actions, schemas, held calls, revisions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.core.model import Limits
from tests.unit.protocols.genkit_turns import (
    DECLINED,
    GO_HOLD,
    PAY,
    Desk,
    configured,
    held,
    output,
    output_of,
    questions,
    read,
    request,
)

# --- What is offered ------------------------------------------------------------------------------


OBJECT, STRING = {"type": "object"}, {"type": "string"}
RESTART = {"anyOf": [{"type": "object"}, {"enum": [True, None]}]}


@pytest.mark.parametrize(
    ("tool", "actions"),
    [
        ({}, ("respond", "restart")),
        ({"action": "restart"}, ("restart", "respond")),
        ({"action": "respond"}, ("respond",)),
        ({"resume_schema": OBJECT}, ("restart", "respond")),
        ({"output_schema": STRING}, ("respond", "restart")),
        ({"resume_schema": OBJECT, "output_schema": STRING}, ("respond", "restart")),
        ({"action": "restart", "output_schema": STRING}, ("restart", "respond")),
    ],
)
def test_both_actions_are_offered_unless_settings_exclude_one(
    tool: dict[str, Any], actions: tuple[str, ...]
) -> None:
    """The default comes first; of an unknown tool it is the one that never runs it."""
    (question,) = questions(read(output(request()), configured({"pay": tool})))
    assert question.actions == actions
    assert json.loads(question.metadata or b"")["default_action"] == actions[0]


@pytest.mark.parametrize(
    ("tool", "shown", "others"),
    [
        ({}, None, {"restart": RESTART}),
        ({"action": "respond"}, None, {}),
        ({"action": "restart"}, RESTART, {"respond": True}),
        ({"output_schema": STRING}, STRING, {"restart": RESTART}),
        ({"resume_schema": OBJECT}, OBJECT, {"respond": True}),
        ({"resume_schema": OBJECT, "output_schema": STRING}, STRING, {"restart": OBJECT}),
        ({"resume_schema": OBJECT, "output_schema": OBJECT}, OBJECT, {}),
    ],
)
def test_the_schema_of_each_action_is_published(
    tool: dict[str, Any], shown: Any, others: dict[str, Any]
) -> None:
    """That of the default as the response schema, what differs from it in the metadata."""
    (question,) = questions(read(output(request()), configured({"pay": tool})))
    assert json.loads(question.response_schema or b"null") == shown
    assert {name: json.loads(text) for name, text in question.action_schemas} == others
    assert json.loads(question.metadata or b"").get("action_schemas", {}) == others


def test_an_approval_says_whether_its_input_may_be_revised() -> None:
    """Where runtime and policy allow it."""
    tools = {"pay": {"action": "restart", "allow_revised_input": True}, "ask": {}}
    turn = output(request(), request("ask"))
    asked = questions(read(turn, configured(tools, runtime="go")))
    assert [question.revisable for question in asked] == [True, False]
    metadata = [json.loads(question.metadata or b"") for question in asked]
    assert [told.get("revisable") for told in metadata] == [True, None]


@pytest.mark.parametrize(
    ("parts", "flags"),
    [
        ([request(ref=None), request(ref=None)], ("ambiguous", "no_refusal")),
        ([request(), request(input={"other": 1})], ("ambiguous", "no_refusal")),
        # A settled twin is found first by name and ref, and its input is not ours.
        ([request(interrupt=None, pendingOutput=1), request()], ("ambiguous", "no_refusal")),
        ([request(), request("ask")], ("no_refusal",)),
    ],
)
def test_calls_that_no_runtime_tells_apart_are_one_question(
    parts: list[Any], flags: tuple[str, ...]
) -> None:
    """One response answers them all; a restart is checked against the wrong one."""
    asked = questions(read(output(*parts), configured({"pay": {"action": "restart"}})))
    assert asked[0].flags == flags
    assert asked[0].actions == (("respond",) if "ambiguous" in flags else ("restart", "respond"))
    pending = [part for part in parts if "interrupt" in part["metadata"]]
    group = json.loads(asked[0].metadata or b"").get("group", [])
    assert len(group) == (len(pending) if "ambiguous" in flags and len(pending) > 1 else 0)


def test_an_absent_ref_is_an_empty_one_to_go_alone() -> None:
    """Where nobody says which runtime it is, they are not told apart either."""
    turn = output(request(ref=None), request(ref=""))
    for runtime, count in (("py", 2), ("js", 2), ("go", 1), (None, 1)):
        assert len(questions(read(turn, configured(runtime=runtime)))) == count


@pytest.mark.parametrize(
    ("part", "runtime", "refusal", "denies", "flags"),
    [
        (held(), "py", None, False, ("no_refusal",)),
        (held(), "js", {"no": 1}, True, ()),
        (held(), "go", None, False, ("no_refusal",)),
        (held(interruptedBy="genkit-middleware/toolApproval"), "go", None, True, ()),
        (held(interruptedBy="genkit-middleware/toolApproval"), None, None, True, ()),
    ],
)
def test_a_held_call_takes_a_strict_boolean(
    part: Any, runtime: str | None, refusal: Any, denies: bool, flags: tuple[str, ...]
) -> None:
    """A no is offered where something can be sent for it: a refusal, or Go's own decision."""
    tool = {} if refusal is None else {"refusal": refusal}
    (question,) = questions(read(output(part), configured({"pay": tool}, runtime=runtime)))
    schema = json.loads(question.response_schema or b"")
    allowed = {"type": "boolean"} if denies else {"const": True}
    assert schema["properties"]["toolApproved"] == allowed
    assert (question.actions, question.flags) == (("restart", "respond"), flags)


def test_a_budget_is_released_by_a_bare_restart() -> None:
    """Another hook's hold is no approval, and the tool has not asked for its own payload yet."""
    part = request(interrupt={"message": "spent"}, interruptedBy="genkit-middleware/budget")
    tools = {"pay": {"resume_schema": {"type": "object", "required": ["ok"]}}}
    (question,) = questions(read(output(part), configured(tools, runtime="go")))
    assert (question.reason, question.actions) == ("tool_interrupt", ("restart", "respond"))
    assert json.loads(question.response_schema or b"") == RESTART


# --- Held calls -----------------------------------------------------------------------------------


@pytest.mark.parametrize("runtime", ["go", "js", "py"])
@pytest.mark.parametrize(
    "payload",
    [
        True,
        {},
        {"approved": True},
        {"toolApproved": "no"},
        {"toolApproved": 1},
        {"tool_approved": True},
        {"toolApproved": False, "tool_approved": "yes"},
        {"toolApproved": True, "tool_approved": True},
    ],
)
def test_only_the_boolean_approves(runtime: str, payload: Any) -> None:
    """Everything else is refused when it is answered, whichever runtime would have taken it."""
    for part in (held(), held(interruptedBy=GO_HOLD)):
        desk = Desk(output(part), configured(DECLINED, runtime=runtime))
        assert desk.answer(0, payload) == "invalid_payload"


@pytest.mark.parametrize("payload", ["no", {"toolApproved": "no"}, {"tool_approved": 1}, None])
def test_nothing_else_approves_whatever_the_bound_on_schemas(payload: Any) -> None:
    """It is for schemas of agents; ours is enforced, though it is not published."""
    for part in (held(), held(interruptedBy=GO_HOLD)):
        desk = Desk(output(part), configured(DECLINED), Limits(schema_bytes=1))
        assert desk.questions[0].response_schema is None
        assert "schema_unusable" not in desk.questions[0].flags
        assert desk.answer(0, payload) == "invalid_payload"
        assert desk.answer(0, {"toolApproved": True}) == "accepted"


@pytest.mark.parametrize("runtime", ["go", "js", "py"])
def test_a_response_may_stand_for_a_held_call(runtime: str) -> None:
    """Every runtime takes one; the tool does not run."""
    for part in (held(), held(interruptedBy=GO_HOLD), request(interruptedBy="some/budget")):
        desk = Desk(output(part), configured(PAY, runtime=runtime))
        assert desk.answer(0, "by hand", action="respond") == "accepted"
        assert [output_of(entry) for entry in desk.resume["respond"]] == ["by hand"]


def test_a_no_is_a_decision_only_where_the_middleware_takes_one() -> None:
    """Elsewhere the call would be held again for ever, so the refusal goes out."""
    decision = {"toolApproved": False, "reason": "not today"}
    go = Desk(output(held(interruptedBy=GO_HOLD)), configured(DECLINED, runtime="go"))
    go.answer(0, decision)
    assert go.resume["restart"][0]["metadata"]["resumed"] == decision
    for runtime in ("go", "js", "py"):
        desk = Desk(output(held()), configured(DECLINED, runtime=runtime))
        assert desk.answer(0, decision) == "accepted"
        assert output_of(desk.resume["respond"][0]) == {"status": "declined"}
        strict = Desk(output(held()), configured(PAY, runtime=runtime))
        assert strict.answer(0, decision) == "invalid_payload"


def test_the_middleware_s_own_no_stands_for_an_abandoned_hold() -> None:
    """Where nothing is configured; the model is told why."""
    desk = Desk(output(held(interruptedBy=GO_HOLD)), configured(runtime="go"))
    desk.cancel(0)
    resumed = {"toolApproved": False, "reason": "cancelled"}
    assert desk.resume["restart"][0]["metadata"] == {"resumed": resumed}


# --- Schemas --------------------------------------------------------------------------------------

SCHEMA = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}


@pytest.mark.parametrize("limit", [10_000, 1])
@pytest.mark.parametrize(
    ("tool", "action"),
    [
        ({"output_schema": SCHEMA}, None),
        ({"output_schema": SCHEMA, "action": "respond"}, "respond"),
        ({"output_schema": SCHEMA, "action": "restart"}, "respond"),
        ({"resume_schema": SCHEMA}, None),
        ({"resume_schema": SCHEMA, "action": "restart"}, "restart"),
        ({"resume_schema": SCHEMA, "output_schema": {}}, "restart"),
    ],
)
def test_payloads_are_held_to_the_schema_of_their_action(
    tool: dict[str, Any], action: str | None, limit: int
) -> None:
    """The runtimes do not: JavaScript and Python hand whatever comes to the model or the tool."""
    desk = Desk(output(request()), configured({"pay": tool}), Limits(schema_bytes=limit))
    for wrong in (None, 12345, {"ok": "yes"}, {}):
        assert desk.answer(0, wrong, action=action) == "invalid_payload"
    assert desk.answer(0, {"ok": True}, action=action) == "accepted"


def test_each_action_has_its_own_schema() -> None:
    """What one action takes, the other does not."""
    tool = {"output_schema": {"type": "integer"}, "resume_schema": SCHEMA}
    for action, right, wrong in (("restart", {"ok": True}, 7), ("respond", 7, {"ok": True})):
        desk = Desk(output(request()), configured({"pay": tool}))
        assert desk.answer(0, wrong, action=action) == "invalid_payload"
        assert desk.answer(0, right, action=action) == "accepted"
        assert set(desk.resume) == {action}


@pytest.mark.parametrize("tool", [{}, {"action": "restart"}, {"output_schema": SCHEMA}])
def test_a_scalar_restarts_nothing_whatever_the_default(tool: dict[str, Any]) -> None:
    """And a response is not held to what restarts take."""
    for payload in (False, 0, "yes", [True]):
        desk = Desk(output(request()), configured({"pay": tool}))
        assert desk.answer(0, payload, action="restart") == "invalid_payload"
        if "output_schema" not in tool:
            assert desk.answer(0, payload, action="respond") == "accepted"


# --- Revised input --------------------------------------------------------------------------------


def test_a_revised_input_goes_out_where_runtime_and_policy_take_it() -> None:
    """With the original beside it, both as they were written."""
    tools = {"pay": {"action": "restart", "allow_revised_input": True}}
    desk = Desk(output(request()), configured(tools, runtime="go"))
    desk.answer(0, {"ok": True}, revised_input=b'{"amount":20.0}')
    assert desk.native is not None
    assert b'"input":{"amount":20.0}' in desk.native.body
    assert b'"replacedInput":{"to": "payee-1", "amount": 50}' in desk.native.body


@pytest.mark.parametrize("runtime", ["go", "js", "py", None])
def test_a_revised_input_is_refused_wherever_it_would_not_be_looked_at(runtime: str | None) -> None:
    """The tool must not run with the original one instead; the question stays open."""
    for tools in (DECLINED, PAY):
        desk = Desk(output(request()), configured(tools, runtime=runtime))
        for action in (None, "restart", "respond"):
            revised = {"action": action, "revised_input": b'{"amount":20}'}
            assert desk.answer(0, {"ok": True}, **revised) == "invalid_payload"
        assert desk.answer(0, {"ok": True}) == "accepted"


REVISE = {"pay": {**DECLINED["pay"], "allow_revised_input": True}}


@pytest.mark.parametrize(
    "turn",
    [
        output(held(interruptedBy=GO_HOLD)),
        output(held()),
        output(request(), request(input={"other": 1})),
        {"protocol": "genkit", "runtime": "py", "output": output(request())},
    ],
)
def test_no_policy_lets_a_runtime_take_what_it_does_not(turn: Any) -> None:
    """A held call would be held again, a group checked against the wrong input; and a turn may say
    itself that it is not Go's."""
    desk = Desk(turn, configured(REVISE, runtime="go"))
    assert desk.answer(0, {"toolApproved": True}, revised_input=b"{}") == "invalid_payload"


def test_a_response_has_no_use_for_a_revised_input() -> None:
    """The tool does not run with any; a note says what is left out."""
    desk = Desk(output(request()), configured(REVISE, runtime="go"))
    assert desk.answer(0, 1, action="respond", revised_input=b"{}") == "accepted"
    assert desk.native is not None
    assert "revised_input_omitted" in desk.native.notes
    assert [output_of(entry) for entry in desk.resume["respond"]] == [1]
