"""An agent on a2a-sdk's own server, in 1.0 or through its compatibility with 0.3.

One question is the plain text that A2A knows. A status has one message only, so two questions at
once are items of that message, in the form that Strands gives them.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import httpx
from a2a.helpers import (
    get_data_parts,
    get_message_text,
    new_data_part,
    new_task_from_user_message,
    new_text_part,
)
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Message, Part
from a2a_client import Client, Peer
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route
from talk import serve, versions
from web import listen


class Refunds(AgentExecutor):
    """Asks before it pays. What it asks depends on the first message of the task."""

    def __init__(self) -> None:
        self._left: dict[str, list[list[Part]]] = {}
        self._answers: dict[str, list[Any]] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        message, updater = context.message, _updater(context, event_queue)
        assert message is not None
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(message))
            self._left[updater.task_id] = _questions(get_message_text(message))
            self._answers[updater.task_id] = []
        else:
            self._answers[updater.task_id] += _answers(message)
        await updater.start_work()
        await self._go_on(updater.task_id, updater)

    async def _go_on(self, task_id: str, updater: TaskUpdater) -> None:
        if self._left[task_id]:
            parts = self._left[task_id].pop(0)
            await updater.requires_input(updater.new_agent_message(parts))
            return
        words = f"refunded to {' and '.join(map(str, self._answers[task_id]))}"
        await updater.add_artifact([new_text_part(words)], name="receipt")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await _updater(context, event_queue).cancel()


def _updater(context: RequestContext, event_queue: EventQueue) -> TaskUpdater:
    return TaskUpdater(event_queue, context.task_id or "", context.context_id or "")


def _questions(case: str) -> list[list[Part]]:
    account = [new_text_part("Refund 50.0 EUR: to which account?")]
    if case == "again":
        return [account, [new_text_part("Which reference shall it bear?")]]
    if case == "two":
        items = [{"interruptId": f"int-{n}", "name": "account", "reason": "Which?"} for n in (1, 2)]
        return [[*account, new_data_part({"interrupts": items})]]
    return [account]


def _answers(message: Message) -> list[Any]:
    items = get_data_parts(message.parts)
    if not items:
        return [get_message_text(message)]
    return [item["interruptResponse"]["response"] for item in items]


def card() -> AgentCard:
    modes = ["text/plain", "application/json"]
    return AgentCard(
        name="refunds",
        description="Refunds orders.",
        version="1",
        supported_interfaces=[
            AgentInterface(
                url="http://127.0.0.1", protocol_binding="JSONRPC", protocol_version="1.0"
            )
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=modes,
        default_output_modes=modes,
        skills=[AgentSkill(id="refund", name="refund", description="Refunds.", tags=["refund"])],
    )


def _app(binding: str) -> Starlette:
    configs = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        Refunds(),
        InMemoryTaskStore(),
        card(),
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
    )
    if binding == "rest":
        return Starlette(routes=create_rest_routes(handler, enable_v0_3_compat=True))
    return Starlette(routes=create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True))


def webhook(client: Client) -> Starlette:
    async def take(request: HttpRequest) -> Response:
        client.pushed.append((await request.body()).decode())
        return Response()

    return Starlette(routes=[Route("/", take, methods=["POST"])])


async def _start(given: argparse.Namespace) -> Client:
    url = await listen(_app(given.binding))
    root = url if given.binding == "rest" else f"{url}/"
    client = Client(root, given.version, given.binding, given.source)
    if given.source == "push":
        client.webhook = await listen(webhook(client)) + "/"
    return client


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", choices=["1.0", "0.3"], default="1.0")
    parser.add_argument("--binding", choices=["jsonrpc", "rest"], default="jsonrpc")
    parser.add_argument("--source", choices=["stream", "bodies", "push"], default="stream")
    return parser.parse_args()


if __name__ == "__main__":
    PEER = Peer(partial(_start, _arguments()))
    serve(hello=lambda _: versions("a2a-sdk"), ask=PEER.ask, resume=PEER.resume)
