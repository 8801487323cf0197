"""kagent's extension for people in the loop: each tool and question asked, all answered at once."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.core.model import SourcePolicy
from tests.unit.protocols.a2a_bench import Agents
from tests.unit.protocols.a2a_events import only_asked, read, status, text

URI = "https://kagent.dev/extensions/hitl/v1"


def tool(number: int, **members: Any) -> dict[str, Any]:
    call = {"id": f"t-{number}", "call_id": f"call-{number}", "name": "delete_file"}
    return {**call, "args": {"path": "a.txt"}, **members}


def asking(request: Any, **members: Any) -> dict[str, Any]:
    """A status whose message has the extension, listed and in its metadata."""
    event = status("INPUT_REQUIRED", text("Two changes"), metadata={URI: request}, **members)
    event["statusUpdate"]["status"]["message"]["extensions"] = [URI]
    return event


def approvals(*tools: Any, **members: Any) -> dict[str, Any]:
    return {"type": "tool_approval_request", "hint": "Clean up?", "tools": list(tools), **members}


def questions(*asked: Any, **members: Any) -> dict[str, Any]:
    return {"type": "ask_user_request", "id": "q-1", "questions": list(asked), **members}


WHICH = {"question": "Which namespace?", "choices": ["dev", "prod"]}
WHEN = {"question": "When?"}
SEVERAL = {"question": "Who?", "choices": ["a", "b"], "multiple": True}


def sent(agents: Agents) -> dict[str, Any]:
    """The one message that answers, with the extension in every place where it has to be."""
    (command,) = agents.commands()
    native = command["native"]
    assert native["method"] == "SendMessage"
    assert native["headers"]["A2A-Extensions"] == URI
    message = native["body"]["params"]["message"]
    assert (message["taskId"], message["contextId"]) == ("task-1", "ctx-1")
    assert (message["extensions"], list(message["metadata"])) == ([URI], [URI])
    return dict(message["metadata"][URI])


def test_each_tool_is_an_approval() -> None:
    """Under the id that is answered, with the call that it is about."""
    agents = Agents()
    agents.tells(asking(approvals(tool(1), tool(2, name="restart_pod", args=None))))
    first, second = agents.pending()
    assert [first["interrupt_id"], second["interrupt_id"]] == ["t-1", "t-2"]
    assert [first["tool_call_id"], second["tool_call_id"]] == ["call-1", "call-2"]
    assert (first["reason"], first["message"]) == ("delete_file", "Clean up?")
    assert first["metadata"]["item"]["args"] == {"path": "a.txt"}
    assert first["flags"] == []


def test_all_tools_are_answered_in_one_message() -> None:
    """Every id exactly once, in the request's order, whatever the order of the answers."""
    agents = Agents()
    agents.tells(asking(approvals(tool(1), tool(2))))
    first, second = agents.pending()
    why = {"approved": False, "rejection_reason": "wrong pod"}
    assert agents.answers(second, why) == "accepted"
    assert agents.commands() == []
    assert agents.answers(first, {"approved": True}) == "accepted"
    assert sent(agents) == {
        "type": "tool_approval_response",
        "approvals": [{"id": "t-1", "approved": True}, {"id": "t-2", **why}],
    }


@pytest.mark.parametrize(
    "payload", [None, True, "yes", {}, {"approved": "yes"}, {"approved": True, "id": "t-2"}]
)
def test_what_is_no_decision_is_refused(payload: Any) -> None:
    """An omission never means approval, and no answer names another tool."""
    agents = Agents()
    agents.tells(asking(approvals(tool(1))))
    assert agents.answers(agents.pending()[0], payload) == "invalid_payload"
    assert len(agents.pending()) == 1


def test_a_tool_that_is_cancelled_is_rejected_and_the_task_goes_on() -> None:
    """The extension has a no: the other tool still runs, and the agent is told why."""
    agents = Agents()
    agents.tells(asking(approvals(tool(1), tool(2))))
    first, second = agents.pending()
    agents.answers(second, status="cancelled")
    agents.answers(first, {"approved": True})
    assert sent(agents)["approvals"] == [
        {"id": "t-1", "approved": True},
        {"id": "t-2", "approved": False, "rejection_reason": "not approved: cancelled"},
    ]
    (command,) = agents.commands()
    assert [entry["status"] for entry in command["entries"]] == ["resolved", "cancelled"]
    assert agents.latest[first["approval_id"]]["closed_reason"] == "answered"


def test_tools_that_expire_are_rejected() -> None:
    """Nobody decided on one in time, and the decision on the other has lapsed."""
    agents = Agents(policy=SourcePolicy(default_ttl=60_000))
    agents.tells(asking(approvals(tool(1), tool(2))))
    agents.answers(agents.pending()[0], {"approved": True})
    agents.waits(70)
    assert sent(agents)["approvals"] == [
        {"id": "t-1", "approved": False, "rejection_reason": "not approved: lapsed"},
        {"id": "t-2", "approved": False, "rejection_reason": "not approved: expired"},
    ]


def test_nested_tools_are_those_to_be_answered() -> None:
    """A child agent paused: its tools' ids count, not its parent's."""
    nested = {"subagent_name": "cleaner", "task_id": "child-1", "tools": [tool(8), tool(9)]}
    agents = Agents()
    agents.tells(asking(approvals(tool(1), nested=nested)))
    first, second = agents.pending()
    assert [first["interrupt_id"], second["interrupt_id"]] == ["t-8", "t-9"]
    assert first["metadata"]["messageMetadata"][URI]["nested"]["subagent_name"] == "cleaner"
    agents.answers(first, {"approved": True})
    agents.answers(second, {"approved": True})
    assert [each["id"] for each in sent(agents)["approvals"]] == ["t-8", "t-9"]


def test_many_large_tools_are_asked() -> None:
    """Each approval shows its own tool, not those of all the others."""
    tools = [tool(number, args={"text": "x" * 10_000}) for number in range(40)]
    agents = Agents()
    agents.tells(asking(approvals(*tools)))
    assert (agents.letters(), len(agents.pending())) == ([], 40)
    around = agents.pending()[0]["metadata"]["messageMetadata"][URI]
    assert around == {"type": "tool_approval_request", "hint": "Clean up?"}


def test_each_question_is_an_approval_and_all_are_answered_in_one_message() -> None:
    """One entry for each, in their order; a text alone is a list of one."""
    agents = Agents()
    agents.tells(asking(questions(WHICH, WHEN, SEVERAL)))
    which, when, who = agents.pending()
    assert [one["message"] for one in (which, when, who)] == ["Which namespace?", "When?", "Who?"]
    assert agents.answers(when, ["tonight"]) == "accepted"
    assert agents.answers(who, ["a", "b"]) == "accepted"
    assert agents.answers(which, "prod") == "accepted"
    assert sent(agents) == {
        "type": "ask_user_response",
        "id": "q-1",
        "answers": [{"answer": ["prod"]}, {"answer": ["tonight"]}, {"answer": ["a", "b"]}],
    }


@pytest.mark.parametrize("payload", [None, 7, {}, [], [1], ["dev", "prod"], {"answer": ["dev"]}])
def test_what_is_no_answer_to_a_question_is_refused(payload: Any) -> None:
    """It takes a text; several only where several may be chosen."""
    agents = Agents()
    agents.tells(asking(questions(WHICH)))
    assert agents.answers(agents.pending()[0], payload) == "invalid_payload"


def test_a_question_that_nobody_answers_gives_up_the_task() -> None:
    """It cannot be left out of the response, and the extension has no other no."""
    agents = Agents()
    agents.tells(asking(questions(WHICH, WHEN)))
    which, when = agents.pending()
    agents.answers(which, "prod")
    agents.answers(when, status="cancelled")
    (command,) = agents.commands()
    assert command["native"]["method"] == "CancelTask"


def test_a_nested_question_goes_back_to_the_child() -> None:
    """Under the id of its first tool."""
    agents = Agents()
    agents.tells(asking(questions(WHEN, nested={"tools": [tool(5)]})))
    agents.answers(agents.pending()[0], "now")
    assert sent(agents)["id"] == "t-5"


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (approvals(tool(1), tool(1, name="other")), "duplicate_interrupt_id"),
        (approvals({"call_id": "c", "name": "f", "args": {}}), "malformed"),
        (approvals("t-1"), "malformed"),
        (questions(WHEN, id=""), "malformed"),
        (questions(WHEN, nested={"tools": []}), "malformed"),
    ],
)
def test_a_request_that_could_not_be_answered_in_full_is_put_aside(
    request_: Any, reason: str
) -> None:
    """kagent refuses missing, unknown and double ids."""
    agents = Agents()
    agents.tells(asking(request_))
    assert (agents.letters(), agents.pending()) == ([reason], [])


def test_the_extension_counts_only_where_it_is_listed_and_given() -> None:
    """Its readers require both; without, the message is words."""
    unlisted = status("INPUT_REQUIRED", text(), metadata={URI: approvals(tool(1))})
    assert only_asked(read(unlisted)).questions[0].interrupt_id == "q1"
    assert only_asked(read(unlisted)).questions[0].flags == ()


@pytest.mark.parametrize(
    "request_",
    [None, "please", {"type": "sign_request"}, approvals(), questions()],
    ids=["none", "text", "another type", "no tools", "no questions"],
)
def test_the_extension_without_a_request_that_is_read_is_flagged(request_: Any) -> None:
    """A later version's request is no plain question."""
    (question,) = only_asked(read(asking(request_))).questions
    assert question.flags == ("unknown_dialect",)
