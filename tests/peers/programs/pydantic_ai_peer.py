"""pydantic-ai's AG-UI adapter: an agent whose tool needs an approval, on a Starlette route.

The agent keeps nothing between two requests. What it needs to go on stands in `messages`, and its
stream tells them by the hook that the adapter has for that, `on_complete`. With the argument
`store` a conversation store keeps the conversation on the server instead.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import ag_ui_runs
from ag_ui.core import MessagesSnapshotEvent
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.conversation_store import InMemoryConversationStore
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.run import AgentRunResult
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route


async def script(
    messages: list[ModelMessage], _info: AgentInfo
) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
    parts = [part for message in messages for part in message.parts]
    prompt = " ".join(str(part.content) for part in parts if part.part_kind == "user-prompt")
    turn = sum(isinstance(message, ModelResponse) for message in messages)
    calls = range(ag_ui_runs.calls_now(prompt, turn))
    if not calls:
        results = [part.content for part in parts if part.part_kind == "tool-return"]
        yield ag_ui_runs.conclusion(prompt, results)
    for call in calls:
        proposed = json.dumps({"order": f"{turn}-{call}", "amount": 10})
        yield {call: DeltaToolCall("refund", proposed, tool_call_id=f"call-{uuid4()}")}


agent = Agent(FunctionModel(stream_function=script), output_type=[str, DeferredToolRequests])


@agent.tool_plain(requires_approval=True)
def refund(order: str, amount: float) -> str:
    """Pay for an order."""
    return f"refunded {amount} for {order}"


async def history(result: AgentRunResult[Any]) -> AsyncIterator[MessagesSnapshotEvent]:
    yield MessagesSnapshotEvent(messages=AGUIAdapter.dump_messages(result.all_messages()))


STORED = {"conversation_store": InMemoryConversationStore(), "conversation_scope": "peers"}
KEPT: dict[str, Any] = STORED if "store" in sys.argv else {"on_complete": history}


async def route(request: HttpRequest) -> Response:
    return await AGUIAdapter.dispatch_request(request, agent=agent, **KEPT)


if __name__ == "__main__":
    app = Starlette(routes=[Route("/", route, methods=["POST"])])
    ag_ui_runs.serve_app(app, "pydantic-ai-slim", "ag-ui-protocol")
