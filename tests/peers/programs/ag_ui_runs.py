"""Runs of an AG-UI agent over HTTP: one that asks, one that goes on, and the script of its model.

A program serves its framework's own app and gives the address. Its scripted model sees only what
the framework gives it: who it speaks with, the case and the turn all come from the messages.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from talk import Reply, Request, record, serve, versions
from web import listen, stream

CALLS = {"one": (1,), "two": (2,), "again": (1, 1)}  # tool calls of the model in each of its turns
PROMPT = "I am Ann. My case is {case}."


def serve_app(app: Any, *distributions: str, path: Callable[[], str] = lambda: "/") -> None:
    """Be the peer that an ASGI app makes, at the path that each request asks for anew."""
    started: list[str] = []

    async def at_app(handler: Callable[..., Any], request: Request) -> Reply:
        if not started:
            started.append(await listen(app))
        return await handler(started[0] + path(), request)

    serve(
        hello=lambda _: versions(*distributions),
        ask=partial(at_app, ask),
        resume=partial(at_app, resume),
    )


async def ask(url: str, request: Request) -> Reply:
    """A new thread, run until it asks."""
    thread = str(uuid.uuid4())
    said = {"id": "m-1", "role": "user", "content": PROMPT.format(case=request["case"])}
    body: dict[str, Any] = {
        "threadId": thread,
        "runId": str(uuid.uuid4()),
        "state": {},
        "messages": [said],
        "tools": [],
        "context": [],
        "forwardedProps": {},
    }
    texts = await stream(url, body)
    return {"records": [record(thread, text) for text in texts]}


async def resume(url: str, request: Request) -> Reply:
    """The run of a native body, sent as it is; an input that is not taken makes no records."""
    native = request["native"]
    try:
        texts = await stream(url, native["body"], native["headers"])
    except RuntimeError as error:
        return {"records": [], "end": "refused", "result": None, "problem": str(error)}
    thread = native["body"]["threadId"]
    return {"records": [record(thread, text) for text in texts], **_ending(texts)}


def calls_now(prompt: str, turn: int) -> int:
    """How many calls the model makes in this turn, counted from 0; none: it is done."""
    turns = CALLS[_found(r"case is (\w+)", prompt)]
    return turns[turn] if turn < len(turns) else 0


def conclusion(prompt: str, results: Sequence[object]) -> str:
    """The model's last words: whom it remembers from the prompt, and what its calls gave."""
    name = _found(r"I am (\w+)", prompt)
    return f"{name}: " + "; ".join(map(str, results))


def _found(pattern: str, prompt: str) -> str:
    found = re.search(pattern, prompt)
    if found is None:
        raise ValueError(f"the model was not given the prompt, but {prompt!r}")
    return found[1]


def _ending(texts: Sequence[str]) -> Reply:
    events = [json.loads(text) for text in texts]
    last = events[-1]
    result = {
        "tools": [e["content"] for e in events if e["type"] == "TOOL_CALL_RESULT"],
        "text": "".join(e["delta"] for e in events if e["type"] == "TEXT_MESSAGE_CONTENT"),
    }
    if last["type"] == "RUN_ERROR":
        problem = f"{last.get('code')}: {last['message']}"
        return {"end": "refused", "result": result, "problem": problem}
    kind = (last.get("outcome") or {}).get("type", "success")
    return {"end": {"interrupt": "asks", "success": "finished"}.get(kind, kind), "result": result}
