"""A client of an A2A agent over HTTP: it asks, carries a resume command out, and keeps all events.

The events are verbatim: server-sent data, response bodies, or what the agent pushes to a webhook.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote
from uuid import uuid4

import httpx
from a2a_events import ENDS, Said, said
from talk import Reply, Request, record
from web import post, stream

SECONDS = 20.0

Version = Literal["1.0", "0.3"]
Binding = Literal["jsonrpc", "rest"]
Source = Literal["stream", "bodies", "push"]

_METHODS = {
    "1.0": ("SendMessage", "SendStreamingMessage", "GetTask", "SubscribeToTask"),
    "0.3": ("message/send", "message/stream", "tasks/get", "tasks/resubscribe"),
}


@dataclass
class Client:
    """One agent at `url`. `source` is where its events are taken from."""

    url: str
    version: Version = "1.0"
    binding: Binding = "jsonrpc"
    source: Source = "stream"
    headers: Mapping[str, str] = field(default_factory=dict)
    webhook: str = ""
    pushed: list[str] = field(default_factory=list)
    asked: dict[str, Said] = field(default_factory=dict)

    async def ask(self, text: str) -> Reply:
        """A new task with this message, until it rests. Raises RuntimeError if it asks nothing."""
        message = self._message(text)
        if self.source == "stream":
            events = await stream(*self._call(1, message, "/message:stream"))
        else:
            response = await post(*self._call(0, message, "/message:send"))
            events = [response.text]
        task_id = said(events[0]).task_id
        if self.source == "push":
            events = await self._pushed(task_id)
        last = _last_status(events)
        if not task_id or not last.rests:
            raise RuntimeError(f"the agent does not ask: {events[-1]}")
        self.asked[task_id] = last
        return {"records": [record(task_id, event) for event in events]}

    async def resume(self, native: Mapping[str, Any]) -> Reply:
        """The command's body, to where its method says; then all events until the task rests."""
        response = await post(
            self.url + (native.get("endpoint") or ""), native["body"], native["headers"]
        )
        params = native["body"].get("params", native["body"])
        task_id = params.get("id") or params["message"]["taskId"]
        first = said(response.text)
        if first.error is not None:
            return _reply(task_id, [response.text], "refused", None, first.error)
        events = await self._follow(task_id, response.text)
        task = await self.task(task_id)
        last = said(task)
        self.asked[task_id] = last
        end = ENDS.get(last.state, "refused")
        return _reply(task_id, events, end, json.loads(task), last.state)

    async def signed_in(self, task_id: str) -> Reply:
        """All events of a task that goes on because somebody signed in, until it rests."""
        events = await (self._pushed(task_id) if self.source == "push" else self._polled(task_id))
        task = await self.task(task_id)
        last = said(task)
        self.asked[task_id] = last
        return _reply(
            task_id, events, ENDS.get(last.state, "refused"), json.loads(task), last.state
        )

    async def _follow(self, task_id: str, response: str) -> list[str]:
        if self.source == "push":
            return await self._pushed(task_id)
        if self._is_new(task_id, said(response)):
            return [response]
        events = await self._subscribed(task_id) if self.source == "stream" else []
        if not self._is_new(task_id, _last_status(events)):
            events += await self._polled(task_id)
        return [response, *events]

    async def _subscribed(self, task_id: str) -> list[str]:
        """What the rest of the stream says; nothing where the task ended before we came."""
        events: list[str] = []
        url, body, headers = self._call(3, {"id": task_id}, _path(task_id, ":subscribe"))
        # The SDK breaks its 0.3 stream off where the task has ended.
        with contextlib.suppress(httpx.RemoteProtocolError):
            async with (
                asyncio.timeout(SECONDS),
                httpx.AsyncClient(timeout=SECONDS) as http,
                http.stream("POST", url, json=body, headers=headers) as response,
            ):
                # A stream may stay open while the task waits, so what it says has to end it.
                async for line in response.aiter_lines():
                    if line.startswith("data:") and said(line[5:]).error is None:
                        events.append(line[5:].strip())
                        if self._is_new(task_id, said(events[-1])):
                            break
        return events

    def _is_new(self, task_id: str, status: Said) -> bool:
        return status.rests and not status.repeats(self.asked.get(task_id, Said()))

    async def _polled(self, task_id: str) -> list[str]:
        events: list[str] = []
        async with asyncio.timeout(SECONDS):
            while not events or not self._is_new(task_id, said(events[-1])):
                task = await self.task(task_id)
                if not events or task != events[-1]:
                    events.append(task)
                await asyncio.sleep(0.05)
        return events

    async def _pushed(self, task_id: str) -> list[str]:
        async with asyncio.timeout(SECONDS):
            while True:
                events = [text for text in self.pushed if said(text).task_id == task_id]
                if events and self._is_new(task_id, _last_status(events)):
                    self.pushed = [text for text in self.pushed if text not in events]
                    return events
                await asyncio.sleep(0.02)

    async def task(self, task_id: str) -> str:
        """The task as it stands now."""
        if self.binding == "jsonrpc":
            return (await post(*self._call(2, {"id": task_id}, ""))).text
        path = ("/v1" if self.version == "0.3" else "") + _path(task_id)
        async with httpx.AsyncClient(timeout=SECONDS) as client:
            return (await client.get(self.url + path, headers=self._headers())).text

    def _call(self, method: int, params: Any, path: str) -> tuple[str, Any, Mapping[str, str]]:
        if self.binding == "rest":
            prefix = "/v1" if self.version == "0.3" else ""
            return self.url + prefix + path, params, self._headers()
        name = _METHODS[self.version][method]
        body = {"jsonrpc": "2.0", "id": "1", "method": name, "params": params}
        return self.url, body, self._headers()

    def _headers(self) -> dict[str, str]:
        return {**({"A2A-Version": "1.0"} if self.version == "1.0" else {}), **self.headers}

    def _message(self, text: str) -> Any:
        is_0_3, is_proto = self.version == "0.3", self.version == "1.0" or self.binding == "rest"
        kind = {} if is_proto else {"kind": "text"}
        message = {
            **({} if is_proto else {"kind": "message"}),
            "messageId": str(uuid4()),
            "role": "ROLE_USER" if is_proto else "user",
            "content" if is_proto and is_0_3 else "parts": [{**kind, "text": text}],
        }
        configuration: dict[str, Any] = {"blocking": True} if is_0_3 else {}
        if self.webhook:
            configuration["taskPushNotificationConfig"] = {"url": self.webhook}
        return {"message": message, "configuration": configuration}


class Peer:
    """A program's handlers. The agent's server lives on the loop that they share."""

    def __init__(self, start: Callable[[], Awaitable[Client]]) -> None:
        self._start = start
        self._client: Client | None = None

    async def client(self) -> Client:
        self._client = self._client or await self._start()
        return self._client

    async def ask(self, request: Request) -> Reply:
        return await (await self.client()).ask(request["case"])

    async def resume(self, request: Request) -> Reply:
        return await (await self.client()).resume(request["native"])


def _path(task_id: str, action: str = "") -> str:
    return f"/tasks/{quote(task_id, safe='')}{action}"


def _last_status(events: list[str]) -> Said:
    statuses = [status for status in map(said, events) if status.state]
    return statuses[-1] if statuses else Said()


def _reply(task_id: str, events: list[str], end: str, result: Any, problem: str) -> Reply:
    records = [record(task_id, event) for event in events]
    reply = {"records": records, "end": end, "result": result}
    return {**reply, "problem": problem} if end == "refused" else reply
