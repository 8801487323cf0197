"""A program that is listened to: each request to it and its reply, in order."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Agent(Protocol):
    """What a case needs of a program, running or recorded."""

    async def ask(self, case: str, expires_in: float | None) -> dict[str, Any]: ...

    async def resume(self, native: bytes) -> dict[str, Any]: ...

    async def sign_in(self, thread: str) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request's operation, what it was about, the reply, and when that came (epoch seconds)."""

    op: str
    about: Any  # the case, the native request as bytes, or the thread
    reply: Mapping[str, Any]
    at: float


class Tape:
    """Passes requests on and keeps what was said."""

    def __init__(self, program: Agent) -> None:
        self.exchanges: list[Exchange] = []
        self._program = program

    async def ask(self, case: str, expires_in: float | None) -> dict[str, Any]:
        return self._keep("ask", case, await self._program.ask(case, expires_in))

    async def resume(self, native: bytes) -> dict[str, Any]:
        return self._keep("resume", native, await self._program.resume(native))

    async def sign_in(self, thread: str) -> dict[str, Any]:
        return self._keep("sign_in", thread, await self._program.sign_in(thread))

    def _keep(self, op: str, about: Any, reply: dict[str, Any]) -> dict[str, Any]:
        self.exchanges.append(Exchange(op, about, reply, time.time()))
        return reply
