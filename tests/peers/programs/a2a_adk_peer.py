"""An agent of google-adk behind its own `to_a2a`: its tool pays once that is confirmed.

Or it asks for the account itself, by the tool that ADK has for that.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

from a2a_client import Client, Peer
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.tools import FunctionTool, request_input
from google.genai import types
from talk import serve, versions
from web import listen

# Whoever sends it as an extension is served by the executor that ADK means to keep.
NEW_EXECUTOR = "https://google.github.io/adk-docs/a2a/a2a-extension/"


def refund(order: str) -> dict[str, Any]:
    """Pays an order back."""
    return {"result": f"paid back {order}"}


class Scripted(BaseLlm):
    """Calls the tool as often as the user's first word says, and ends with what came of it."""

    model: str = "scripted"
    asks: str = "confirmation"

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = [part for content in llm_request.contents for part in content.parts or []]
        case = next(part.text for part in parts if part.text)
        results = [part.function_response for part in parts if part.function_response]
        orders = {"two": [["4711", "4712"]], "again": [["4711"], ["4712"]]}.get(case, [["4711"]])
        said = sum(content.role == "model" for content in llm_request.contents)
        if said < len(orders):
            calls = [_call(self.asks, order) for order in orders[said]]
            yield _response(*(types.Part(function_call=call) for call in calls))
        else:
            yield _response(types.Part(text=f"Done: {[each.response for each in results]}"))


def _call(asks: str, order: str) -> types.FunctionCall:
    if asks == "confirmation":
        return types.FunctionCall(name="refund", args={"order": order})
    args = {"message": f"Refund {order}: which account?", "response_schema": {"type": "string"}}
    return types.FunctionCall(name=request_input.name, args=args)


def _response(*parts: types.Part) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=list(parts)))


async def _start(given: argparse.Namespace) -> Client:
    tools = [FunctionTool(refund, require_confirmation=True), request_input]
    agent = LlmAgent(name="refunds", model=Scripted(asks=given.asks), tools=tools)
    url = await listen(to_a2a(agent))
    headers = {"A2A-Extensions": NEW_EXECUTOR} if given.new_executor else {}
    return Client(f"{url}/", source=given.source, headers=headers)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", choices=["stream", "bodies"], default="stream")
    parser.add_argument("--asks", choices=["confirmation", "input"], default="confirmation")
    parser.add_argument("--new-executor", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    PEER = Peer(partial(_start, _arguments()))
    serve(hello=lambda _: versions("google-adk", "a2a-sdk"), ask=PEER.ask, resume=PEER.resume)
