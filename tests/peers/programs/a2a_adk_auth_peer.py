"""An agent of google-adk whose tool needs a key that somebody else gives it, never the bridge.

ADK takes the key in a message of its own; the program sends it to the agent itself, as a platform
does once somebody has signed in.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from typing import Any
from uuid import uuid4

from a2a_client import Client, Peer
from fastapi.openapi.models import APIKey, APIKeyIn
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.adk.auth import AuthConfig, AuthCredential, AuthCredentialTypes
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.tools import FunctionTool, ToolContext
from google.genai import types
from talk import Reply, Request, serve, versions
from web import listen, post

KEY = "a-made-up-key"
_CONFIG = AuthConfig(auth_scheme=APIKey(**{"in": APIKeyIn.header, "name": "X-Key"}))


def refund(order: str, tool_context: ToolContext) -> dict[str, Any]:
    """Pays an order back, for whoever has the key."""
    wanted = _CONFIG.model_copy(update={"credential_key": f"key-of-{order}"})
    given = tool_context.get_auth_response(wanted)
    if given is None:
        tool_context.request_credential(wanted)
        return {"pending": True}
    return {"result": f"paid back {order}" if given.api_key == KEY else "wrong key"}


class Scripted(BaseLlm):
    """Calls the tool once, or twice one after the other, and ends with what came of it."""

    model: str = "scripted"

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = [part for content in llm_request.contents for part in content.parts or []]
        case = next(part.text for part in parts if part.text)
        results = [part.function_response for part in parts if part.function_response]
        done = [each for each in results if "result" in (each.response or {})]
        orders = ["4711", "4712"] if case == "again" else ["4711"]
        if len(done) < len(orders):
            call = types.FunctionCall(name="refund", args={"order": orders[len(done)]})
            content = types.Content(role="model", parts=[types.Part(function_call=call)])
        else:
            said = f"Done: {[each.response for each in done]}"
            content = types.Content(role="model", parts=[types.Part(text=said)])
        yield LlmResponse(content=content)


async def _start() -> Client:
    agent = LlmAgent(name="refunds", model=Scripted(), tools=[FunctionTool(refund)])
    return Client(f"{await listen(to_a2a(agent))}/", source="bodies")


PEER = Peer(_start)


async def sign_in(request: Request) -> Reply:
    """Somebody's key goes to the agent, in the answer to its own request for one."""
    client, task_id = await PEER.client(), request["thread"]
    task = json.loads(await client.task(task_id))["result"]
    message = task["status"]["message"]
    call = next(part["data"] for part in message["parts"] if "data" in part)
    config = AuthConfig.model_validate(call["args"]["authConfig"])
    config.exchanged_auth_credential = AuthCredential(
        auth_type=AuthCredentialTypes.API_KEY, api_key=KEY
    )
    response = config.model_dump(mode="json", by_alias=True, exclude_none=True)
    part = {
        "data": {"id": call["id"], "name": call["name"], "response": response},
        "metadata": {"adk_type": "function_response"},
    }
    ids = {"messageId": str(uuid4()), "taskId": task_id, "contextId": task["contextId"]}
    params = {"message": {**ids, "role": "ROLE_USER", "parts": [part]}}
    body = {"jsonrpc": "2.0", "id": "1", "method": "SendMessage", "params": params}
    await post(client.url, body, {"A2A-Version": "1.0"})
    return await client.signed_in(task_id)


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    serve(
        hello=lambda _: versions("google-adk", "a2a-sdk"),
        ask=PEER.ask,
        resume=PEER.resume,
        sign_in=sign_in,
    )
