"""A peer program as a process: a JSON line to it, a JSON line back, within a time."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

HELLO_SECONDS = 120.0  # the first import of a large framework on a busy machine
CALL_SECONDS = 60.0
END_SECONDS = 5.0
_LINE_MAX = 64 * 1024 * 1024
_TAIL = 2_000


class Trouble(Exception):
    """What a case needs did not come; the message says what was expected and what came."""


class Program:
    """Use as an async context; its requests raise Trouble, after which it may be dead."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        """`log` takes all that the program says besides its replies."""
        self._command = command
        self._log = log
        self._process: Process | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.end()

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Start a process, also after one that ended."""
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=log,
                limit=_LINE_MAX,
                env=_environment(),
                start_new_session=True,  # Ctrl-C is for the run, whose end closes its stdin
            )

    async def hello(self) -> dict[str, str]:
        """Distribution to version of what is installed, the peer itself first."""
        versions: dict[str, str] = (await self._call(b'{"op":"hello"}', HELLO_SECONDS))["versions"]
        return versions

    async def ask(self, case: str, expires_in: float | None) -> dict[str, Any]:
        """A new thread, run until it is interrupted."""
        request = {"op": "ask", "case": case, "expires_in": expires_in}
        return await self._call(json.dumps(request).encode(), CALL_SECONDS)

    async def resume(self, native: bytes) -> dict[str, Any]:
        """The JSON text of a command's `native` goes in as it stands."""
        # A line break in JSON text can only be a blank between tokens.
        line = b'{"op":"resume","native":' + native.replace(b"\n", b" ") + b"}"
        return await self._call(line, CALL_SECONDS)

    async def sign_in(self, thread: str) -> dict[str, Any]:
        """Somebody does on that thread what its authorization asks for, without the bridge."""
        request = {"op": "sign_in", "thread": thread}
        return await self._call(json.dumps(request).encode(), CALL_SECONDS)

    async def judge(self, made: Any) -> dict[str, Any]:
        """What a reference implementation makes of hand-made cases."""
        return await self._call(json.dumps({"op": "judge", "made": made}).encode(), CALL_SECONDS)

    async def end(self) -> None:
        """Close its stdin; kill it when it does not end by that."""
        if self._process is None or self._process.stdin is None:
            return
        self._process.stdin.close()
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    def tail(self) -> str:
        """The end of what it said on stderr."""
        text = (
            self._log.read_bytes()[-_TAIL:].decode(errors="replace") if self._log.exists() else ""
        )
        return "\n".join(f"  | {line}" for line in text.splitlines()[-25:])

    async def _call(self, line: bytes, seconds: float) -> dict[str, Any]:
        op = json.loads(line)["op"]
        try:
            async with asyncio.timeout(seconds):
                reply = _object(await self._exchange(line + b"\n"), op)
        except TimeoutError:
            await self._kill()
            raise Trouble(f"the program did not reply to {op} within {seconds:.0f} s") from None
        if "error" in reply:
            raise Trouble(f"the program failed at {op}: {reply['error']}")
        return reply

    async def _exchange(self, line: bytes) -> bytes:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(line)
            await process.stdin.drain()
        except ConnectionError:
            pass  # it has ended, which reading tells
        reply = await process.stdout.readline()
        if not reply.endswith(b"\n"):
            raise Trouble(f"the program ended with exit code {await process.wait()}")
        return reply

    async def _kill(self) -> None:
        # A late reply would be taken for that to the next request.
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()


def _object(reply: bytes, op: str) -> dict[str, Any]:
    try:
        found = json.loads(reply)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Trouble(f"the program's reply to {op} is no JSON object: {reply[:200]!r}")
    return found


def _environment() -> dict[str, str]:
    """Scripted models need no network: what tries to reach it gets to a closed port."""
    given = {k: v for k, v in os.environ.items() if not k.startswith(("BRIDGE_", "PYTHON"))}
    proxies = ("http_proxy", "https_proxy", "all_proxy")
    nowhere = {name: "http://127.0.0.1:9" for each in proxies for name in (each, each.upper())}
    direct = {"no_proxy": "127.0.0.1,localhost", "NO_PROXY": "127.0.0.1,localhost"}
    ours = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
    return {**given, **nowhere, **direct, **ours}
