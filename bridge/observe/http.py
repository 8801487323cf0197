"""A very small HTTP server for scrapers and probes: GET of a few fixed paths, nothing else.

It shares the worker's loop, so every part of a request has a bound: the head in bytes and seconds,
the answer in seconds, the connections in number. It never stops the processing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus

from bridge.observe.health import Health, Reply
from bridge.observe.metrics import CONTENT_TYPE, Metrics

HEAD_BYTES = 8_192
EXCHANGE_SECONDS = 5.0
"""For head and answer together; a scraper's usual timeout is 10 s."""
CONNECTIONS = 32

Route = Callable[[], Reply]

_log = logging.getLogger(__name__)


class HttpServer:
    """Serves `routes` until closed. Use `start`."""

    def __init__(self, routes: Mapping[str, Route]) -> None:
        self._routes = routes
        self._open: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int | None:
        """The port it listens on; None when it does not."""
        if self._server is None or not self._server.sockets:
            return None
        return int(self._server.sockets[0].getsockname()[1])

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
            writer.transport.abort()
            return
        self._open.add(writer)
        try:
            async with asyncio.timeout(EXCHANGE_SECONDS):
                await self._exchange(reader, writer)
        except (TimeoutError, ConnectionError):
            writer.transport.abort()
        finally:
            self._open.discard(writer)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reply = await self._reply_to(reader)
        if reply is None:
            return
        writer.write(_encode(reply))
        await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
            # Closing with unread bytes resets the connection and can take the answer with it.
            await reader.read(HEAD_BYTES)

    async def _reply_to(self, reader: asyncio.StreamReader) -> Reply | None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None  # they hung up
        except asyncio.LimitOverrunError:
            return _plain(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        parts = head.split(b"\r\n", 1)[0].split(b" ")
        if len(parts) != 3 or not parts[2].startswith(b"HTTP/1."):
            return _plain(HTTPStatus.BAD_REQUEST)
        return self._route(parts[0], parts[1])

    def _route(self, method: bytes, target: bytes) -> Reply:
        route = self._routes.get(target.split(b"?", 1)[0].decode("latin-1"))
        if method != b"GET":
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


def _encode(reply: Reply) -> bytes:
    allow = "Allow: GET\r\n" if reply.status is HTTPStatus.METHOD_NOT_ALLOWED else ""
    head = (
        f"HTTP/1.1 {reply.status.value} {reply.status.phrase}\r\n"
        f"Content-Type: {reply.content_type}\r\nContent-Length: {len(reply.body)}\r\n"
        f"{allow}Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode("latin-1") + reply.body
