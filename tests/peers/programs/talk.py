"""How a peer program in Python talks with the run: a JSON line in, a JSON line out.

Standalone: peer programs run in environments that know nothing of the bridge.

    from talk import Reply, Request, record, serve, versions

    async def ask(request: Request) -> Reply: ...
    async def resume(request: Request) -> Reply: ...

    serve(hello=lambda _: versions("ag-ui-langgraph", "langgraph"), ask=ask, resume=resume)

A handler is sync or async. Async ones share one event loop that lives as long as the program, so
servers and clients may stay open on it; sync ones all run on one other thread.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from typing import Any, TextIO

Request = dict[str, Any]
Reply = dict[str, Any]
Handler = Callable[[Request], Reply | Awaitable[Reply]]


def versions(*distributions: str) -> Reply:
    """The reply to `hello`: what is installed, the peer itself first."""
    return {"versions": {name: metadata.version(name) for name in distributions}}


def record(key: str | None, value: str, headers: Mapping[str, str] | None = None) -> Reply:
    """A record to publish: the verbatim text of an event, and the thread, task or session."""
    return {"key": key, "value": value, "headers": dict(headers or {})}


def serve(**handlers: Handler) -> None:
    """Answer requests by their `op`, one at a time, until stdin ends; then end the process."""
    replies = _keep_stdout()
    asyncio.new_event_loop().run_until_complete(_serve(handlers, replies))
    sys.stderr.flush()
    os._exit(0)  # servers and threads that a framework left behind must not keep the process


def _keep_stdout() -> TextIO:
    # By file descriptor: what a library prints below Python goes to stderr too.
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return replies


async def _serve(handlers: Mapping[str, Handler], replies: TextIO) -> None:
    # A thread of its own each: reading waits for the run, handlers may wait for their agents.
    reader, worker = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(reader, sys.stdin.buffer.readline):
        reply = await _reply(handlers, line, worker)
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


async def _reply(handlers: Mapping[str, Handler], line: bytes, worker: ThreadPoolExecutor) -> Reply:
    try:
        request = json.loads(line)
        handler = handlers[request["op"]]
        if inspect.iscoroutinefunction(handler):
            reply: Reply | Awaitable[Reply] = handler(request)
        else:
            reply = await asyncio.get_running_loop().run_in_executor(worker, handler, request)
        return await reply if inspect.isawaitable(reply) else reply
    except Exception as error:
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"}
