"""A graph with `interrupt()` on LangGraph's own server, in memory, by its endpoint for A2A.

The same file holds the program and the graph, which the server loads by its path.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from functools import partial
from operator import add
from typing import Annotated, Any

from a2a_client import Client, Peer
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.types import interrupt
from talk import serve, versions
from typing_extensions import TypedDict
from web import listen, post

NOT_EMPTY = {"type": "string", "minLength": 1}


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    accounts: Annotated[list[Any], add]


def first(state: State) -> Any:
    return {"accounts": [_account("4711")]}


def second(state: State) -> Any:
    return {"accounts": [_account("4712")]}


def _account(order: str) -> Any:
    return interrupt({"question": f"Refund {order}: which account?"}, response_schema=NOT_EMPTY)


def pay(state: State) -> Any:
    words = f"paid back to {' and '.join(state['accounts'])}"
    return {"messages": [AIMessage(words)]}


def _starts(state: State) -> list[str]:
    return ["first", "second"] if state["messages"][0].content == "two" else ["first"]


def _goes_on(state: State) -> str:
    return "second" if state["messages"][0].content == "again" else "pay"


BUILDER = StateGraph(State)
BUILDER.add_node(first).add_node(second).add_node(pay)
BUILDER.add_conditional_edges(START, _starts, ["first", "second"])
BUILDER.add_conditional_edges("first", _goes_on, ["second", "pay"])
BUILDER.add_edge("second", "pay").add_edge("pay", END)
graph = BUILDER.compile()


def _environment() -> dict[str, str]:
    """What `langgraph dev` sets for a server that keeps nothing, and nothing for the network."""
    return {
        "MIGRATIONS_PATH": "__inmem",
        "DATABASE_URI": ":memory:",
        "REDIS_URI": "fake",
        "N_JOBS_PER_WORKER": "4",
        "LANGSERVE_GRAPHS": json.dumps({"refunds": f"{__file__}:graph"}),
        "LANGSMITH_LANGGRAPH_API_VARIANT": "local_dev",
        "LANGGRAPH_RUNTIME_EDITION": "inmem",
        "LANGGRAPH_DISABLE_FILE_PERSISTENCE": "true",
        "LANGGRAPH_ALLOW_BLOCKING": "true",
        "LANGSMITH_TRACING": "false",
        "LOG_LEVEL": "ERROR",
    }


async def _start(given: argparse.Namespace) -> Client:
    os.environ.update(_environment())
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # the server makes a folder in it, and leaves it empty
        from langgraph_api.server import app  # noqa: PLC0415 (it reads the environment)

        url = await listen(app)
        os.chdir("/")
    assistants = (await post(f"{url}/assistants/search", {"graph_id": "refunds"})).json()
    address = f"{url}/a2a/{assistants[0]['assistant_id']}"
    return Client(address, given.version, source=given.source)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", choices=["1.0", "0.3"], default="1.0")
    parser.add_argument("--source", choices=["stream", "bodies"], default="stream")
    return parser.parse_args()


if __name__ == "__main__":
    PEER = Peer(partial(_start, _arguments()))
    serve(hello=lambda _: versions("langgraph-api", "langgraph"), ask=PEER.ask, resume=PEER.resume)
