"""Microsoft's Agent Framework behind agent-framework-ag-ui: a tool that always needs an approval.

The endpoint is the package's own, as it is without a store: approvals are kept in the process, and
the conversation is what `messages` tell.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

import ag_ui_runs
from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    tool,
)
from agent_framework_ag_ui import add_agent_framework_fastapi_endpoint
from fastapi import FastAPI


class Script(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """A model that calls the tool, and tells what came of it."""

    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **_named: Any,
    ) -> ResponseStream[ChatResponseUpdate, ChatResponse[Any]]:
        return ResponseStream(_updates(messages), finalizer=ChatResponse.from_updates)


async def _updates(messages: Sequence[Message]) -> AsyncIterator[ChatResponseUpdate]:
    prompt = " ".join(message.text for message in messages if message.role == "user")
    turn = sum(message.role == "assistant" for message in messages)
    calls = range(ag_ui_runs.calls_now(prompt, turn))
    contents = [
        Content.from_function_call(
            call_id=f"call-{uuid4()}",
            name="refund",
            arguments=json.dumps({"order": f"{turn}-{call}"}),
        )
        for call in calls
    ]
    if not contents:
        given = [content for message in messages for content in message.contents]
        results = [content.result for content in given if content.type == "function_result"]
        contents = [Content.from_text(ag_ui_runs.conclusion(prompt, results))]
    yield ChatResponseUpdate(role="assistant", contents=contents)


@tool(approval_mode="always_require")
def refund(order: str) -> str:
    """Pay for an order."""
    return f"refunded {order}"


if __name__ == "__main__":
    app = FastAPI()
    agent = Agent(client=Script(), name="refunds", tools=[refund])
    add_agent_framework_fastapi_endpoint(app, agent, "/", single_user=True)
    names = ("agent-framework-ag-ui", "agent-framework-core", "ag-ui-protocol")
    ag_ui_runs.serve_app(app, *names)
