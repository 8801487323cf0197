"""Health as a worker tells it: alive, and ready. Asks only what it was given, never Kafka.

`/healthz` is served by the worker's own event loop, so an answer at all shows that the loop turns.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a route answers."""

    status: HTTPStatus
    content_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Health:
    """Two questions to the worker; both must answer at once, from memory."""

    is_alive: Callable[[], bool]
    readiness: Callable[[], tuple[bool, dict[str, Any]]]

    def healthz(self) -> Reply:
        """200 while the worker does its work, 503 when it should be restarted."""
        alive = self.is_alive()
        return _reply(alive, {"alive": alive})

    def readyz(self) -> Reply:
        """200 when every assigned slot is restored (none assigned counts), else 503; says why."""
        ready, details = self.readiness()
        return _reply(ready, {"ready": ready, **details})


def _reply(good: bool, body: dict[str, Any]) -> Reply:
    status = HTTPStatus.OK if good else HTTPStatus.SERVICE_UNAVAILABLE
    return Reply(status, JSON, json.dumps(body).encode() + b"\n")
