"""What frameworks ask in a status of A2A, with answers that fit and that do not."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from tests.chaos.agents.play import Given, Question

Body = dict[str, Any]
KAGENT_URI = "https://kagent.dev/extensions/hitl/v1"
_APPROVAL_URI = "https://a2a-extensions.agentstack.beeai.dev/interactions/approval/v1"


class Item(NamedTuple):
    """One thing asked for: its own JSON, and how it may be answered."""

    data: Body
    question: Question


def _two(first: str, second: str) -> tuple[Given, Given]:
    return Given(first), Given(second)


def adk(chance: Random, run: str, number: int) -> Item:
    """A long-running function call: a confirmation, input to a schema, or any call."""
    call = f"adk-{run}-{number}"
    match chance.choice(("confirmation", "input", "call")):
        case "confirmation":
            args: Body = {"toolConfirmation": {"hint": "Delete /data/é?", "confirmed": False}}
            body = {"id": call, "name": "adk_request_confirmation", "args": args}
            valid = _two('{"confirmed":true}', '{"confirmed":false}')
            return Item(body, Question(call, valid, Given('{"confirmed":"yes"}')))
        case "input":
            args = {"message": "How many?", "response_schema": {"type": "integer", "minimum": 1}}
            body = {"id": call, "name": "adk_request_input", "args": args}
            return Item(body, Question(call, _two("3", "12345678901234567890"), Given("0")))
        case _:
            args = {"amount": 50.0, "order": 2**60 + number}
            return Item(
                {"id": call, "name": "refund", "args": args},
                Question(call, _two('{"status":"approved"}', '"later"')),
            )


def strands(chance: Random, run: str, number: int) -> Item:
    """An interrupt of a hook; null is no answer to it."""
    key = f"v1:tool:{run}:{number}"
    body: Body = {"interruptId": key, "name": "confirm", "reason": f"Refund number {number}?"}
    if chance.random() < 0.5:
        body["responseSchema"] = {"type": "object", "required": ["ok"]}
        return Item(body, Question(key, _two('{"ok":1.0}', '{"ok":false}'), Given('"yes"')))
    return Item(body, Question(key, _two('"y"', '{"say":"🦀"}'), Given("null")))


def langgraph(chance: Random, run: str, number: int) -> Item:
    """A pending interrupt() of a graph: 32 hex digits as id; null is no answer to it."""
    key = f"{chance.getrandbits(128):032x}"
    body: Body = {"id": key, "value": {"question": f"Step {number} of {run}?", "weight": 1.50}}
    if chance.random() < 0.3:
        body["response_schema"] = {"type": "string", "minLength": 2}
        return Item(body, Question(key, _two('"yes"', '"no"'), Given('"y"')))
    return Item(body, Question(key, _two('{"go":true}', "12e0"), Given("null")))


def adk_part(item: Item) -> Body:
    """Marked by ADK's prefix, or by that of another framework that uses it."""
    prefix = ("adk", "kagent")[len(item.data["id"]) % 2]
    marks = {f"{prefix}_type": "function_call", f"{prefix}_is_long_running": True}
    return {"data": item.data, "metadata": marks}


def kagent(chance: Random, run: str, number: int) -> Item:
    """A tool that kagent's extension wants approved; null is no arguments."""
    key = f"tool-{run}-{number}"
    args = chance.choice((None, {"path": "/data/é", "depth": 50.0}))
    body: Body = {"id": key, "call_id": f"call-{number}", "name": "delete", "args": args}
    valid = _two('{"approved":true}', '{"approved":false,"rejection_reason":"no"}')
    return Item(body, Question(key, valid, Given("true")))


def kagent_metadata(items: tuple[Item, ...]) -> Body:
    tools = [item.data for item in items]
    return {KAGENT_URI: {"type": "tool_approval_request", "hint": "Sure?", "tools": tools}}


def strands_part(items: tuple[Item, ...]) -> Body:
    return {"data": {"interrupts": [item.data for item in items]}}


def approval_metadata() -> Body:
    """AgentStack's question, which stands in the metadata of its message."""
    return {_APPROVAL_URI: {"action": "tool-call", "title": "Send it?", "name": "send_mail"}}


def approval(run: str) -> Question:
    return Question(
        run,
        _two('{"decision":"approve"}', '{"decision":"reject"}'),
        Given('{"decision":"maybe"}'),
    )


def plain(run: str) -> Question:
    """A question without items: the answer is a text, or any JSON."""
    return Question(run, _two('"main"', '{"branch":"dev","depth":50.0}'))
