"""A very small HTTP server for scrapers and probes: GET and HEAD of a few fixed paths.

It shares the worker's loop, so every part of a request has a bound: the head in bytes and seconds,
the answer in seconds, the connections in number. It never stops the processing. Whoever comes is
let in; where that is one too many, who has been there longest without asking anything has to go,
so that connections that say nothing keep no probe out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from bridge.observe.health import Health, Reply
from bridge.observe.metrics import CONTENT_TYPE, Metrics

HEAD_BYTES = 8_192
EXCHANGE_SECONDS = 5.0
"""For head and answer together; a scraper's usual timeout is 10 s."""
CONNECTIONS = 32
METHODS = ("GET", "HEAD")

Route = Callable[[], Reply]


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, and whether its body was requested too."""

    reply: Reply
    with_body: bool = True


_log = logging.getLogger(__name__)


class HttpServer:
    """Serves `routes` until closed. Use `start`."""

    def __init__(self, routes: Mapping[str, Route]) -> None:
        self._routes = routes
        self._open: dict[asyncio.StreamWriter, bool] = {}  # oldest first; whether it sent a request
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int | None:
        """The port it listens on; None when it does not."""
        if self._server is None or not self._server.sockets:
            return None
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._open)

    async def start(self, host: str, port: int) -> None:
        """Listen (port 0: any free one). A taken port is logged, and the worker goes on without."""
        try:
            self._server = await asyncio.start_server(self._serve, host, port, limit=HEAD_BYTES)
        except (OSError, OverflowError) as error:
            _log.error(
                "metrics and health are not served: set http.host and http.port to a free address",
                extra={"host": host, "port": port, "error": str(error)},
            )
            return
        _log.info("metrics and health", extra={"url": f"http://{host}:{self.port}/metrics"})

    async def close(self) -> None:
        """Stop listening and drop what is open; waits for nobody."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._open):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= CONNECTIONS:
            silent = (writer for writer, active in self._open.items() if not active)
            longest = next(silent, next(iter(self._open)))
            del self._open[longest]
            longest.transport.abort()
        self._open[writer] = False
        try:
            async with asyncio.timeout(EXCHANGE_SECONDS):
                await self._exchange(reader, writer)
        except (TimeoutError, ConnectionError):
            writer.transport.abort()
        finally:
            self._open.pop(writer, None)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer = await self._answer_to(reader)
        if answer is None:
            return
        if writer in self._open:
            self._open[writer] = True
        writer.write(_encode(answer))
        await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
            # Closing with unread bytes resets the connection and can take the answer with it.
            await reader.read(HEAD_BYTES)

    async def _answer_to(self, reader: asyncio.StreamReader) -> Answer | None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None  # they hung up
        except asyncio.LimitOverrunError:
            return Answer(_plain(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE))
        parts = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
            return Answer(_plain(HTTPStatus.BAD_REQUEST))
        method, target, _version = parts
        return Answer(self._route(method, target), with_body=method != "HEAD")

    def _route(self, method: str, target: str) -> Reply:
        route = self._routes.get(target.split("?", 1)[0])
        if method not in METHODS:
            return _plain(HTTPStatus.METHOD_NOT_ALLOWED)
        if route is None:
            return _plain(HTTPStatus.NOT_FOUND)
        try:
            return route()
        except Exception:
            # Whatever a probe trips over must not reach the worker that shares this loop.
            _log.exception("a probe could not be answered")
            return _plain(HTTPStatus.INTERNAL_SERVER_ERROR)


def worker_routes(metrics: Metrics, health: Health) -> dict[str, Route]:
    """What a worker serves."""
    return {
        "/metrics": lambda: Reply(HTTPStatus.OK, CONTENT_TYPE, metrics.exposition()),
        "/healthz": health.healthz,
        "/readyz": health.readyz,
    }


def _plain(status: HTTPStatus) -> Reply:
    return Reply(status, "text/plain; charset=utf-8", status.phrase.encode() + b"\n")


def _encode(answer: Answer) -> bytes:
    reply = answer.reply
    refused = reply.status is HTTPStatus.METHOD_NOT_ALLOWED
    allow = f"Allow: {', '.join(METHODS)}\r\n" if refused else ""
    head = (
        f"HTTP/1.1 {reply.status.value} {reply.status.phrase}\r\n"
        f"Content-Type: {reply.content_type}\r\nContent-Length: {len(reply.body)}\r\n"
        f"{allow}Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode("latin-1") + (reply.body if answer.with_body else b"")
