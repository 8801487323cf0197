"""A peer's HTTP app on a free loopback port, and the events that it streams, as they came.

For programs whose handlers are async: the server lives on the same event loop as they do.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import uvicorn

REQUEST_SECONDS = 60.0


async def listen(app: Any) -> str:
    """Serve an ASGI app until the process ends; returns its address without a slash."""
    bound = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on"))
    _SERVERS.append(asyncio.create_task(server.serve([bound])))
    while not server.started:
        if _SERVERS[-1].done():
            raise RuntimeError("the server ended while starting")
        await asyncio.sleep(0.01)
    return f"http://127.0.0.1:{bound.getsockname()[1]}"


async def post(url: str, body: Any, headers: Mapping[str, str] | None = None) -> httpx.Response:
    """POST a JSON body; the response whatever its status."""
    async with httpx.AsyncClient(timeout=REQUEST_SECONDS) as client:
        return await client.post(url, json=body, headers=dict(headers or {}))


async def stream(url: str, body: Any, headers: Mapping[str, str] | None = None) -> list[str]:
    """POST a JSON body and gather the data of all server-sent events, verbatim and in order.

    Raises RuntimeError with the status and text of a response that is no success.
    """
    accept = {"accept": "text/event-stream", **(headers or {})}
    async with (
        httpx.AsyncClient(timeout=REQUEST_SECONDS) as client,
        client.stream("POST", url, json=body, headers=accept) as response,
    ):
        if not response.is_success:
            text = (await response.aread()).decode(errors="replace")
            raise RuntimeError(f"HTTP {response.status_code}: {text}")
        return [data async for data in _events(response)]


_SERVERS: list[asyncio.Task[None]] = []  # the loop itself keeps only weak references


async def _events(response: httpx.Response) -> AsyncIterator[str]:
    # By bytes: httpx's own lines also end at U+2028, which JSON strings may hold.
    rest = b""
    data: list[str] = []
    async for chunk in response.aiter_bytes():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in (each.removesuffix(b"\r") for each in lines):
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" ").decode())
            elif not line and data:
                yield "\n".join(data)
                data.clear()
    if data:
        yield "\n".join(data)
