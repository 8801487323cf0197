"""Strands behind ag_ui_strands: each request meets a new replica that knows only the session store.

With the argument `approval` the adapter asks before it calls the tool; with `interrupt` the tool
itself asks for a value in its midst, which is Strands' own interrupt.
"""

from __future__ import annotations

import json
import logging
import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from itertools import count
from typing import Any
from uuid import uuid4

import ag_ui_runs
from ag_ui_strands import (
    StrandsAgent,
    StrandsAgentConfig,
    ToolBehavior,
    add_strands_fastapi_endpoint,
)
from fastapi import FastAPI
from strands import Agent, ToolContext, tool
from strands.models import Model
from strands.session.repository_session_manager import RepositorySessionManager
from strands.session.session_repository import SessionRepository
from strands.types.session import Session, SessionAgent, SessionMessage

# Strands' spans are closed in another task than they were opened in, which OpenTelemetry reports.
logging.getLogger("opentelemetry.context").setLevel(logging.CRITICAL)


class Script(Model):
    """A model that calls the one tool it is given, and tells what came of it."""

    def update_config(self, **_config: Any) -> None:
        pass

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *_given: Any, **_named: Any) -> Any:
        raise NotImplementedError

    async def stream(
        self, messages: Any, tool_specs: Any = None, *_more: Any, **_named: Any
    ) -> Any:
        blocks = [block for message in messages for block in message["content"]]
        prompt = next(block["text"] for block in blocks if "text" in block)
        turn = sum(message["role"] == "assistant" for message in messages)
        calls = ag_ui_runs.calls_now(prompt, turn)
        yield {"messageStart": {"role": "assistant"}}
        for call in range(calls):
            async for event in _calling(tool_specs[0]["name"], f"{turn}-{call}"):
                yield event
        if not calls:
            given = [block["toolResult"]["content"] for block in blocks if "toolResult" in block]
            results = [content[0]["text"] for content in given]
            yield {"contentBlockStart": {"start": {}}}
            text = ag_ui_runs.conclusion(prompt, results)
            yield {"contentBlockDelta": {"delta": {"text": text}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}


async def _calling(name: str, order: str) -> AsyncIterator[dict[str, Any]]:
    called = {"name": name, "toolUseId": f"call-{uuid4()}"}
    yield {"contentBlockStart": {"start": {"toolUse": called}}}
    yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps({"order": order})}}}}
    yield {"contentBlockStop": {}}


class Sessions(SessionRepository):
    """A session store that replicas share, as text, so that no object goes from one to another."""

    def __init__(self) -> None:
        self.sessions: dict[str, str] = {}
        self.agents: dict[tuple[str, str], str] = {}
        self.messages: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)

    def create_session(self, session: Session, **_named: Any) -> Session:
        self.sessions[session.session_id] = json.dumps(session.to_dict())
        return session

    def read_session(self, session_id: str, **_named: Any) -> Session | None:
        text = self.sessions.get(session_id)
        return None if text is None else Session.from_dict(json.loads(text))

    def create_agent(self, session_id: str, session_agent: SessionAgent, **_named: Any) -> None:
        self.agents[session_id, session_agent.agent_id] = json.dumps(session_agent.to_dict())

    def read_agent(self, session_id: str, agent_id: str, **_named: Any) -> SessionAgent | None:
        text = self.agents.get((session_id, agent_id))
        return None if text is None else SessionAgent.from_dict(json.loads(text))

    update_agent = create_agent

    def create_message(
        self, session_id: str, agent_id: str, session_message: SessionMessage, **_named: Any
    ) -> None:
        kept = self.messages[session_id, agent_id]
        kept[session_message.message_id] = json.dumps(session_message.to_dict())

    def read_message(
        self, session_id: str, agent_id: str, message_id: int, **_named: Any
    ) -> SessionMessage | None:
        text = self.messages[session_id, agent_id].get(message_id)
        return None if text is None else SessionMessage.from_dict(json.loads(text))

    update_message = create_message

    def list_messages(
        self,
        session_id: str,
        agent_id: str,
        limit: int | None = None,
        offset: int = 0,
        **_named: Any,
    ) -> list[SessionMessage]:
        texts = [text for _, text in sorted(self.messages[session_id, agent_id].items())]
        page = texts[offset:] if limit is None else texts[offset : offset + limit]
        return [SessionMessage.from_dict(json.loads(text)) for text in page]


@tool
def refund(order: str) -> str:
    """Pay for an order."""
    return f"refunded {order}"


@tool(context=True)
def pay_out(order: str, tool_context: ToolContext) -> str:
    """Ask which account an order is to be paid to, and pay."""
    answer = tool_context.interrupt("account", reason={"order": order})
    return f"kept {order}" if answer.get("cancelled") else f"paid {order} to {answer['response']}"


TOOLS = {"approval": refund, "interrupt": pay_out}
SESSIONS = Sessions()


def replica() -> StrandsAgent:
    """An agent as a process makes it that has just started."""
    config = StrandsAgentConfig(
        tool_behaviors={"refund": ToolBehavior(interrupt_on_call=True)},
        session_manager_provider=lambda given: RepositorySessionManager(given.thread_id, SESSIONS),
    )
    agent = Agent(model=Script(), tools=[TOOLS[sys.argv[1]]], callback_handler=None)
    return StrandsAgent(agent, name="refunds", config=config)


if __name__ == "__main__":
    app, numbers = FastAPI(), count()

    def new_replica() -> str:
        path = f"/{next(numbers)}"
        add_strands_fastapi_endpoint(app, replica(), path)
        return path

    names = ("ag-ui-strands", "strands-agents", "ag-ui-protocol")
    ag_ui_runs.serve_app(app, *names, path=new_replica)
