"""Genkit turns through a slot's cycle: records in, approvals, verdicts and commands out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.core.model import Limits, SourcePolicy
from bridge.core.record import Record
from bridge.core.schema import SchemaCache
from bridge.slot.desk import Desk, Source
from tests.unit.protocols.genkit_turns import configured, held, output, request
from tests.unit.slot.desk import EVENTS, NOW, TOPICS, Bench, raw, sent

MINUTE = 60_000
TOOLS: dict[str, Any] = {
    "pay": {"action": "restart"},
    "ask": {"action": "respond", "output_schema": {"type": "string"}, "refusal": "no answer"},
}


def bench(default_ttl: int | None = None) -> Bench:
    genkit = configured(TOOLS, agent="bank", runtime="py")
    source = Source("agents", genkit, SourcePolicy(default_ttl=default_ttl))
    return Bench(Desk(0, 1, {EVENTS: source}, TOPICS, Limits(), SchemaCache(16)))


def turn(value: dict[str, Any], offset: int = 0, at: int = NOW) -> Record:
    return raw(json.dumps(value).encode(), EVENTS, b"s-1", offset, at)


def answer(approval: Any, payload: Any = None, offset: int = 0, **more: Any) -> Record:
    """An answer by the approval's id, as another team's program would write it."""
    body = {"approval_id": approval["approval_id"], "status": "resolved", "payload": payload}
    return raw(json.dumps({**body, **more}).encode(), TOPICS["answers"], None, offset)


def opened(at: Bench, *parts: Any) -> list[Any]:
    return list(sent(at.cycle(turn(output(*parts))), "approvals"))


def verdicts(outgoing: Any) -> list[str]:
    return [record["verdict"] for record in sent(outgoing, "answer-verdicts")]


def resume_of(outgoing: Any) -> Any:
    (command,) = sent(outgoing, "resume-commands")
    return command["native"]["body"]["data"]["resume"]


def test_an_approval_says_all_that_an_answer_needs() -> None:
    """Identity, actions, schema, and what the tool was called with."""
    (approval,) = opened(bench(), request("ask", "c1", {"question": "sure?"}))
    assert (approval["protocol"], approval["scope"]) == ("genkit", "bank")
    assert (approval["thread_id"], approval["run_id"]) == ("s-1", "p-1")
    assert (approval["message"], approval["tool_call_id"]) == ("sure?", "c1")
    assert (approval["actions"], approval["response_schema"]) == (["respond"], {"type": "string"})
    assert approval["metadata"]["input"] == {"to": "payee-1", "amount": 50}


def test_restart_and_respond_make_one_command() -> None:
    """Nothing goes out before both are there; a wrong payload can be mended."""
    at = bench()
    pay, ask = opened(at, request("pay"), request("ask", "c2"))
    first = at.cycle(answer(pay, {"approved": True}), answer(ask, 5, offset=1))
    assert verdicts(first) == ["accepted", "invalid_payload"]
    assert sent(first, "resume-commands") == []
    last = at.restored().cycle(answer(ask, "yes", offset=2))
    (command,) = sent(last, "resume-commands")
    assert command["native"]["body"] == {
        "data": {
            "resume": {
                "restart": [
                    {
                        "toolRequest": request("pay")["toolRequest"],
                        "metadata": {"resumed": {"approved": True}},
                    }
                ],
                "respond": [
                    {
                        "toolResponse": {"name": "ask", "ref": "c2", "output": "yes"},
                        "metadata": {"interruptResponse": True},
                    }
                ],
            }
        },
        "init": {"sessionId": "s-1", "snapshotId": "p-1"},
    }
    assert command["native"]["notes"] == ["check_leaf"]
    assert command["completed_by"] == "answers"


def test_a_hold_is_released_by_the_boolean() -> None:
    """The text "no" would approve it at the agent; here it is sent back with a pointer."""
    at = bench()
    (approval,) = opened(at, held())
    wrong = at.cycle(answer(approval, {"toolApproved": "no"}))
    (verdict,) = sent(wrong, "answer-verdicts")
    assert verdict["problems"][0]["path"] == "/toolApproved"
    right = at.cycle(answer(approval, {"toolApproved": True}, offset=1))
    assert resume_of(right)["restart"][0]["metadata"]["resumed"] == {"toolApproved": True}


def test_an_ambiguous_group_is_one_approval() -> None:
    """And its one response."""
    at = bench()
    (approval,) = opened(at, request(ref=None), request(ref=None, input={"to": "payee-2"}))
    assert approval["flags"] == ["ambiguous", "no_refusal"]
    assert [one["input"]["to"] for one in approval["metadata"]["group"]] == ["payee-1", "payee-2"]
    outgoing = at.cycle(answer(approval, {"done": "by hand"}))
    assert [e["toolResponse"]["output"] for e in resume_of(outgoing)["respond"]] == [
        {"done": "by hand"}
    ]


def test_an_expired_question_sends_the_refusal() -> None:
    """The command says who completed it."""
    at = bench(default_ttl=MINUTE)
    opened(at, request("ask"))
    outgoing = at.cycle(now=NOW + MINUTE, due=NOW + MINUTE)
    (command,) = sent(outgoing, "resume-commands")
    assert command["completed_by"] == "expiry"
    assert resume_of(outgoing)["respond"][0]["toolResponse"]["output"] == "no answer"


def test_a_question_without_a_refusal_does_not_expire_by_default() -> None:
    """And if somebody cancels it, the run is given up in public."""
    at = bench(default_ttl=MINUTE)
    (approval,) = opened(at, request("pay"))
    assert "expires_at" not in approval
    assert at.cycle(now=NOW + MINUTE, due=NOW + MINUTE) == []
    outgoing = at.cycle(answer(approval, status="cancelled"))
    assert sent(outgoing, "resume-commands") == []
    assert sent(outgoing, "approvals")[0]["run_outcome"] == "unresumable"
    assert [out.topic for out in outgoing if out.topic == "dead-letters"] == ["dead-letters"]


def test_a_session_that_goes_on_withdraws_the_question() -> None:
    """A newer completed turn no longer has the pending part; a failed one changes nothing."""
    at = bench()
    opened(at, request("pay"))
    failed = output(request("pay"), reason="failed", snapshotId="p-2")
    assert at.cycle(turn(failed, 1, NOW + 1)) == []
    done = output({"text": "done"}, reason="stop", snapshotId="p-3")
    (approval,) = sent(at.cycle(turn(done, 2, NOW + 2)), "approvals")
    assert (approval["status"], approval["closed_reason"]) == ("withdrawn", "moved_on")


def test_a_resumed_turn_that_pauses_again_asks_anew() -> None:
    """Under the same name and ref; an answer to the old question does not count for it."""
    at = bench()
    (first,) = opened(at, request("pay"))
    at.cycle(answer(first, {"approved": True}))
    again = output(request("pay", interrupt="once more?"), snapshotId="p-2")
    (second,) = sent(at.cycle(turn(again, 1, NOW + 1)), "approvals")
    assert second["approval_id"] != first["approval_id"]
    late = at.cycle(answer(first, {"approved": False}, offset=1))
    assert verdicts(late) == ["late"]


@pytest.mark.parametrize("offset", [1, 2])
def test_the_same_turn_again_changes_nothing(offset: int) -> None:
    """As an output, however often it is delivered."""
    at = bench()
    opened(at, request("pay"))
    assert at.cycle(turn(output(request("pay")), offset, NOW + offset)) == []
