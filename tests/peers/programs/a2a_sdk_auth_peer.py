"""An agent on a2a-sdk's own server that needs somebody to sign in, and goes on once that was done.

Its execution waits meanwhile, as A2A means an authorization out of band; all events are pushed.
"""

from __future__ import annotations

import asyncio

import httpx
from a2a.helpers import get_message_text, new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a_client import Client, Peer
from a2a_sdk_peer import card, webhook
from starlette.applications import Starlette
from talk import Reply, Request, serve, versions
from web import listen

SIGNED_IN: dict[str, asyncio.Queue[None]] = {}


class Refunds(AgentExecutor):
    """Pays once somebody has signed in; \"again\" is for two accounts, one after the other."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        message = context.message
        assert message is not None
        await event_queue.enqueue_event(new_task_from_user_message(message))
        updater = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
        signed_in = SIGNED_IN.setdefault(updater.task_id, asyncio.Queue())
        await updater.start_work()
        for _ in range(2 if get_message_text(message) == "again" else 1):
            words = f"Sign in at https://login.example/device?task={updater.task_id}"
            await updater.requires_auth(updater.new_agent_message([new_text_part(words)]))
            await signed_in.get()
            await updater.start_work()
        await updater.add_artifact([new_text_part("paid back 4711")], name="receipt")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()


async def _start() -> Client:
    configs = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        Refunds(),
        InMemoryTaskStore(),
        card(),
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
    )
    url = await listen(Starlette(routes=create_jsonrpc_routes(handler, "/")))
    client = Client(f"{url}/", source="push")
    client.webhook = await listen(webhook(client)) + "/"
    return client


PEER = Peer(_start)


async def sign_in(request: Request) -> Reply:
    """What a person does at the address, and the agent hears of."""
    client = await PEER.client()
    SIGNED_IN[request["thread"]].put_nowait(None)
    return await client.signed_in(request["thread"])


if __name__ == "__main__":
    serve(hello=lambda _: versions("a2a-sdk"), ask=PEER.ask, resume=PEER.resume, sign_in=sign_in)
