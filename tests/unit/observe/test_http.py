"""The HTTP server: what it serves, what it refuses, and that nobody can stall it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bridge.observe import http
from bridge.observe.health import Health
from bridge.observe.http import HttpServer, worker_routes
from bridge.observe.metrics import Metrics


@asynccontextmanager
async def serving(
    alive: bool = True, ready: bool = True, **details: Any
) -> AsyncIterator[HttpServer]:
    health = Health(lambda: alive, lambda: (ready, details))
    server = HttpServer(worker_routes(Metrics("1"), health))
    await server.start("127.0.0.1", 0)
    try:
        yield server
    finally:
        await server.close()


async def ask(server: HttpServer, request: bytes) -> tuple[int, bytes, bytes]:
    """Status, head and body of the answer; status 0 when the connection ended without one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        writer.write(request)
        answer = await asyncio.wait_for(reader.read(), 10)
    except ConnectionError:
        answer = b""
    finally:
        writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]) if head else 0, head, body


async def get(server: HttpServer, path: str) -> tuple[int, bytes, bytes]:
    return await ask(server, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())


async def test_metrics_are_served_as_prometheus_text() -> None:
    async with serving() as server:
        status, head, body = await get(server, "/metrics")
    assert status == 200
    assert b"text/plain; version=0.0.4" in head
    assert b"interrupt_bridge_build_info" in body


async def test_health_says_yes_and_no_with_details() -> None:
    async with serving(slots=3) as server:
        assert (await get(server, "/healthz"))[0] == 200
        status, _, body = await get(server, "/readyz?verbose=1")
    assert (status, json.loads(body)) == (200, {"ready": True, "slots": 3})
    async with serving(alive=False, ready=False) as server:
        assert (await get(server, "/healthz"))[0] == 503
        assert (await get(server, "/readyz"))[0] == 503


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_nothing_but_get_and_head(method: str) -> None:
    async with serving() as server:
        status, head, _ = await ask(server, f"{method} /metrics HTTP/1.1\r\n\r\n".encode())
    assert status == 405
    assert b"Allow: GET, HEAD" in head


@pytest.mark.parametrize(("path", "status"), [("/healthz", 200), ("/readyz", 503), ("/x", 404)])
async def test_head_is_get_without_the_body(path: str, status: int) -> None:
    async with serving(ready=False) as server:
        _, told, body = await get(server, path)
        found, head, nothing = await ask(server, f"HEAD {path} HTTP/1.1\r\n\r\n".encode())
    assert (found, head, nothing) == (status, told, b"")
    assert b"Content-Length: %d\r\n" % len(body) in head


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /secret HTTP/1.1\r\n\r\n", 404),
        (b"GET /metrics\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\r\n\r\n", 400),
        (b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 20_000 + b"\r\n\r\n", 431),
    ],
)
async def test_other_requests_are_refused(request_bytes: bytes, status: int) -> None:
    async with serving() as server:
        assert (await ask(server, request_bytes))[0] == status


async def test_a_slow_head_does_not_stall_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slowloris: an unfinished head holds one connection for a bounded time, and no one else."""
    monkeypatch.setattr(http, "EXCHANGE_SECONDS", 0.3)
    async with serving() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /metrics HT")
        assert (await get(server, "/healthz"))[0] == 200
        assert await asyncio.wait_for(reader.read(), 10) == b""
        writer.close()


async def test_slow_connections_keep_no_probe_out() -> None:
    """However many heads stay unfinished, those that come are answered, at every path."""
    slow: list[asyncio.StreamWriter] = []
    async with serving() as server:
        for number in range(4 * http.CONNECTIONS):
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"GET /metrics HT" if number % 2 else b"")
            slow.append(writer)
        for _ in range(2 * http.CONNECTIONS):
            for path in ("/healthz", "/readyz", "/metrics"):
                assert (await get(server, path))[0] == 200
        assert server.connections <= http.CONNECTIONS
    for writer in slow:
        writer.close()


async def test_connections_are_bounded_by_letting_the_longest_silent_go() -> None:
    """One that trickles is among them; one that has asked and reads slowly goes after them."""
    async with serving() as server:
        asked = await asyncio.open_connection("127.0.0.1", server.port)
        asked[1].write(b"GET /healthz HTTP/1.1\r\n\r\n")
        assert b"200" in await asked[0].readline()
        silent = [
            await asyncio.open_connection("127.0.0.1", server.port) for _ in range(http.CONNECTIONS)
        ]
        assert await asyncio.wait_for(silent[0][0].read(), 10) == b""
        assert (await get(server, "/healthz"))[0] == 200
        assert (await asyncio.wait_for(asked[0].read(), 10)).endswith(b'{"alive": true}\n')
        assert server.connections <= http.CONNECTIONS
        for _, writer in (asked, *silent):
            writer.close()


async def test_a_taken_port_is_logged_and_no_more(caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as first:
        second = HttpServer({})
        await second.start("127.0.0.1", first.port or 0)
        assert second.port is None
        await second.close()
    assert "metrics and health are not served" in caplog.text


async def test_a_probe_that_fails_is_an_answer() -> None:
    def broken() -> bool:
        raise RuntimeError("no figures yet")

    server = HttpServer(worker_routes(Metrics("1"), Health(broken, lambda: (True, {}))))
    await server.start("127.0.0.1", 0)
    assert (await get(server, "/healthz"))[0] == 500
    await server.close()
