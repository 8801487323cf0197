"""kagent's extension: what it asks, and whether one message answers all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bridge.audit import text
from bridge.audit.readings import Json, Question, Settled, is_text

URI = "https://kagent.dev/extensions/hitl/v1"
TOOL, QUESTION = "kagent_tool", "kagent_question"
SHAPES = (TOOL, QUESTION)


def items_of(message: Json) -> list[Question]:
    """Its tools, or its questions; empty where the message does not use the extension."""
    metadata, listed = message.get("metadata"), message.get("extensions")
    if not isinstance(metadata, dict) or not isinstance(listed, list) or URI not in listed:
        return []
    asked = metadata.get(URI)
    if not isinstance(asked, dict):
        return []
    nested = asked.get("nested")
    tools = (asked if nested is None else nested).get("tools") or []
    if asked.get("type") == "tool_approval_request":
        return [_tool(tool, asked) for tool in tools]
    if asked.get("type") != "ask_user_request":
        return []
    id_ = asked.get("id") if nested is None else _id_of(next(iter(tools), None))
    if not (is_text(id_) and id_):
        raise text.Unreadable("a request without an id")
    return [_question(one, f"{id_}/{n}", id_) for n, one in enumerate(asked.get("questions") or [])]


def _id_of(tool: Any) -> str:
    if not isinstance(tool, dict) or not (is_text(tool.get("id")) and tool["id"]):
        raise text.Unreadable("a tool without an id")
    return str(tool["id"])


def _tool(tool: Any, asked: Json) -> Question:
    shown = {"tool_call_id": None, "reason": None}
    id_ = _id_of(tool)
    shown |= {"tool_call_id": tool.get("call_id"), "reason": tool.get("name")}
    if asked.get("hint"):
        shown["message"] = asked["hint"]
    return Question(id_, shown, {"item": tool}, {"shape": TOOL})


def _question(one: Any, id_: str, request: str) -> Question:
    words = one.get("question") if isinstance(one, dict) else None
    shown = {"message": words} if words else {}
    return Question(id_, shown, {"item": one}, {"shape": QUESTION, "request": request})


def answers(message: Json, said: Any, settled: Sequence[Settled]) -> bool:
    """Whether the message lists the extension, and says every answer under it, once."""
    if URI not in (message.get("extensions") or []) or not isinstance(said, dict):
        return False
    if settled[0].question.native["shape"] == QUESTION:
        given = [
            {"answer": one.payload if isinstance(one.payload, list) else [one.payload]}
            for one in settled
        ]
        expected = {"type": "ask_user_response", "answers": given}
        return text.alike(said, expected | {"id": settled[0].question.native["request"]})
    approvals = said.get("approvals")
    if said.get("type") != "tool_approval_response" or not isinstance(approvals, list):
        return False
    return len(approvals) == len(settled) and all(map(_decided, approvals, settled))


def _decided(approvals: Any, one: Settled) -> bool:
    id_ = one.entry.get("interrupt_id")
    if one.entry.get("status") == "resolved":
        return text.alike(approvals, {"id": id_, **one.payload})
    no = {"id": id_, "approved": False, "rejection_reason": ""}
    return text.alike({**approvals, "rejection_reason": ""}, no) and is_text(
        approvals.get("rejection_reason")
    )
