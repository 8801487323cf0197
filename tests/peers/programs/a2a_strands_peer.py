"""An agent of strands-agents behind its own `A2AServer`: its tool asks by a native interrupt."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterable
from functools import partial
from typing import Any

from a2a_client import Client, Peer
from strands import Agent, ToolContext, tool
from strands.models import Model
from strands.multiagent.a2a import A2AServer
from talk import serve, versions
from web import listen


@tool(context=True)
def refund(order: str, tool_context: ToolContext) -> str:
    """Pays an order back to an account that somebody names."""
    account = tool_context.interrupt(f"account-{order}", reason=f"Refund {order}: which account?")
    return f"paid back {order} to {account}"


class Scripted(Model):
    """Calls the tool as often as the user's first word says, and ends with what came of it."""

    def update_config(self, **model_config: Any) -> None: ...

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *args: Any, **kwargs: Any) -> AsyncGenerator[dict[str, Any], None]:
        raise NotImplementedError

    async def stream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncIterable[Any]:
        case = messages[0]["content"][0]["text"]
        orders = {"two": [["4711", "4712"]], "again": [["4711"], ["4712"]]}.get(case, [["4711"]])
        said = sum(message["role"] == "assistant" for message in messages)
        yield {"messageStart": {"role": "assistant"}}
        if said < len(orders):
            for order in orders[said]:
                call = {"name": "refund", "toolUseId": f"call-{order}"}
                yield {"contentBlockStart": {"start": {"toolUse": call}}}
                given = json.dumps({"order": order})
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": given}}}}
                yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "tool_use"}}
            return
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": f"Done: {_results(messages)}"}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def _results(messages: Any) -> list[str]:
    blocks = [block for message in messages for block in message["content"]]
    return [block["toolResult"]["content"][0]["text"] for block in blocks if "toolResult" in block]


def _agent(context_id: str) -> Agent:
    return Agent(
        model=Scripted(),
        tools=[refund],
        name="refunds",
        description="Refunds orders.",
        callback_handler=None,
    )


async def _start(given: argparse.Namespace) -> Client:
    server = A2AServer(
        agent_factory=_agent, enable_a2a_compliant_streaming=given.compliant_streaming
    )
    url = await listen(server.to_starlette_app())
    return Client(f"{url}/", "0.3", source=given.source)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", choices=["stream", "bodies"], default="stream")
    parser.add_argument("--compliant-streaming", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    PEER = Peer(partial(_start, _arguments()))
    serve(hello=lambda _: versions("strands-agents", "a2a-sdk"), ask=PEER.ask, resume=PEER.resume)
