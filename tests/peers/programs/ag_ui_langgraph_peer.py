"""LangGraph behind ag-ui-langgraph: a graph that asks in its nodes, served by the package's own
FastAPI endpoint: with the argument `default` as it comes, which asks by `CUSTOM on_interrupt` and
ends with a plain RUN_FINISHED, else with the interrupt outcome switched on.

A node asks with `interrupt`, once or, in case `again`, twice one after the other; in case `two`
two nodes ask at the same time. The graph's checkpointer keeps the thread between the runs.
"""

from __future__ import annotations

import json
import operator
import sys
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from ag_ui.core import ResumeEntry
from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
from ag_ui_langgraph.interrupts import DEFAULT_RESUME_SENTINEL_CANCELLED
from fastapi import FastAPI
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt
from talk import Reply, Request, record, serve, versions
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12
from web import listen, stream

SCHEMA = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}},
    "required": ["approved"],
}
CASES = {"one": (1, 1), "two": (2, 1), "again": (1, 2)}  # nodes side by side, questions of each


class Agent(LangGraphAgent):
    """Gives several answers by interrupt id, as LangGraph wants them: the default's map of its own
    form is refused. A single answer stays as the package gives it."""

    def _build_command_from_agui_resume(
        self, entries: list[ResumeEntry], **more: Any
    ) -> Command[Any]:
        if len(entries) == 1:
            return super()._build_command_from_agui_resume(entries, **more)
        declined = {DEFAULT_RESUME_SENTINEL_CANCELLED: True}
        return Command(
            resume={
                entry.interrupt_id: entry.payload if entry.status == "resolved" else declined
                for entry in entries
            }
        )


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    refunds: Annotated[list[str], operator.add]


def question(order: str, deadline: str | None) -> dict[str, Any]:
    """What a node asks: the adapter copies these members into the AG-UI interrupt."""
    asked = {
        "reason": "confirmation",
        "message": f"Refund order {order}?",
        "responseSchema": SCHEMA,
    }
    return asked | ({} if deadline is None else {"expiresAt": deadline})


def refund(orders: list[str], deadline: str | None) -> Callable[[State], dict[str, Any]]:
    """A node that asks for each order and refunds what was approved."""

    def node(_state: State) -> dict[str, Any]:
        answers = [interrupt(question(order, deadline)) for order in orders]
        approved = [o for o, a in zip(orders, answers, strict=True) if a.get("approved") is True]
        texts = [f"refunded {order}" for order in approved]
        said = AIMessage("; ".join(texts) or f"no refund for {', '.join(orders)}")
        return {"refunds": texts, "messages": [said]}

    return node


def graph(case: str, deadline: str | None) -> CompiledStateGraph[State]:
    """The graph of a case; only the last of several nodes has a deadline."""
    nodes, questions = CASES[case]
    built = StateGraph(State)
    for node in range(nodes):
        orders = [f"{node + 1}-{number + 1}" for number in range(questions)]
        last = node == nodes - 1 and nodes > 1
        built.add_node(f"refund_{node}", refund(orders, deadline if last else None))
        built.add_edge(START, f"refund_{node}")
        built.add_edge(f"refund_{node}", END)
    return built.compile(checkpointer=InMemorySaver())


def serving(made: CompiledStateGraph[State]) -> LangGraphAgent:
    if sys.argv[1:] == ["default"]:
        return LangGraphAgent(name="refunds", graph=made)
    return Agent(name="refunds", graph=made, emit_interrupt_outcome=True)


class Threads:
    """Where each thread's agent is served."""

    def __init__(self) -> None:
        self.app = FastAPI()
        self.paths: dict[str, str] = {}
        self.address: str | None = None

    async def run(self, body: dict[str, Any]) -> list[str]:
        """POST an input to its agent; the events as they came."""
        self.address = self.address or await listen(self.app)
        return await stream(self.address + self.paths[body["threadId"]], body)

    async def ask(self, request: Request) -> Reply:
        thread, seconds = str(uuid.uuid4()), request["expires_in"]
        deadline = None if seconds is None else datetime.now(UTC) + timedelta(seconds=seconds)
        made = graph(request["case"], None if deadline is None else deadline.isoformat())
        agent = serving(made)
        self.paths[thread] = f"/{thread}"
        add_langgraph_fastapi_endpoint(self.app, agent, self.paths[thread])
        message = {"id": "m-1", "role": "user", "content": "Refund my orders, please."}
        body = {"threadId": thread, "runId": str(uuid.uuid4()), "messages": [message]}
        empty = {"state": {}, "tools": [], "context": [], "forwardedProps": {}}
        events = await self.run(body | empty)
        return {"records": [record(thread, event) for event in events]}

    async def resume(self, request: Request) -> Reply:
        body = request["native"]["body"]
        texts = await self.run(body)
        events = [json.loads(text) for text in texts]
        return {"records": [record(body["threadId"], text) for text in texts], **ending(events)}


def ending(events: list[dict[str, Any]]) -> Reply:
    """How a run ended, by its last event, and what it shows of the answers."""
    last = events[-1]
    if last["type"] == "RUN_ERROR":
        return {"end": "refused", "result": None, "problem": last["message"]}
    snapshots = [event["snapshot"] for event in events if event["type"] == "STATE_SNAPSHOT"]
    told = any(event.get("name") == "on_interrupt" for event in events)
    asks = told or (last.get("outcome") or {}).get("type") == "interrupt"
    return {"end": "asks" if asks else "finished", "result": snapshots[-1]["refunds"]}


if __name__ == "__main__":
    threads = Threads()
    installed = versions("ag-ui-langgraph", "ag-ui-protocol", "langgraph")
    serve(hello=lambda _: installed, ask=threads.ask, resume=threads.resume)
