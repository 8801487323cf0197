"""Genkit for Python: a bank's agent behind Genkit's own FastAPI plugin.

The one argument says which agent: server, client, insists or approval, as genkit_bank.py has them.
"""

from __future__ import annotations

import asyncio
import json
import sys
from functools import cache
from typing import Any
from uuid import uuid4

import httpx
from fastapi import FastAPI
from genkit_bank import bank_of
from genkit_fastapi import serve_agent
from talk import Reply, Request, record, serve, versions
from web import listen, post

KIND = sys.argv[1]
RESULT = '{"result":'
ABOUT = {
    "protocol": "genkit",
    "agent": "bank",
    "runtime": "py",
    "stateManagement": "client" if KIND in ("client", "insists") else "server",
}


@cache
def address() -> asyncio.Task[str]:
    """The agent's address; it is served from the first request on."""
    return asyncio.create_task(_listen())


async def _listen() -> str:
    app = FastAPI()
    app.include_router(serve_agent(bank_of(KIND)))
    return await listen(app) + "/bank"


def result_of(response: httpx.Response) -> str:
    """The text of the result. Raises RuntimeError where there is none."""
    if not response.is_success or not response.text.startswith(RESULT):
        raise RuntimeError(f"HTTP {response.status_code}: {response.text}")
    return response.text[len(RESULT) : -1]


def wrapped(place: str, text: str) -> str:
    """Built as text, so that what is inside stays as it came."""
    # A tool that asks the same again leaves a turn that is equal to the last one.
    about = {**ABOUT, "turnId": str(uuid4())} if KIND == "insists" else ABOUT
    return f'{json.dumps(about)[:-1]}, "{place}": {text}}}'


async def snapshot(lookup: dict[str, str]) -> str:
    return result_of(await post(await address() + "/getSnapshot", {"data": lookup}))


async def records(output: str) -> list[Reply]:
    """What a producer publishes of a turn: its output and, unless it failed, its snapshot."""
    turn = json.loads(output)
    values = [wrapped("output", output)]
    if turn.get("snapshotId") and "error" not in turn:
        values.append(wrapped("snapshot", await snapshot({"snapshotId": turn["snapshotId"]})))
    return [record(turn["sessionId"], value) for value in values]


async def moved_on(native: dict[str, Any]) -> str | None:
    """Why the command must not be sent: its session went on since. The docs' `check_leaf`."""
    if "check_leaf" not in native["notes"]:
        return None
    init = native["body"]["init"]
    leaf = json.loads(await snapshot({"sessionId": init["sessionId"]}))
    if leaf["snapshotId"] == init["snapshotId"] and leaf["finishReason"] == "interrupted":
        return None
    if leaf.get("parentId") == init["snapshotId"] and leaf["status"] == "failed":
        return None
    return f"the session's leaf is {leaf['snapshotId']}, {leaf.get('finishReason')}"


def refused(problem: str, published: list[Reply]) -> Reply:
    return {"records": published, "end": "refused", "result": None, "problem": problem}


async def ask(request: Request) -> Reply:
    message = {"role": "user", "content": [{"text": request["case"]}]}
    response = await post(await address(), {"data": {"message": message}})
    return {"records": await records(result_of(response))}


async def resume(request: Request) -> Reply:
    native = request["native"]
    problem = await moved_on(native)
    if problem is not None:
        return refused(problem, [])
    response = await post(await address(), native["body"], native["headers"])
    try:
        output = result_of(response)
    except RuntimeError as error:
        return refused(str(error), [])
    turn, published = json.loads(output), await records(output)
    if "error" in turn:
        return refused(turn["error"]["message"], published)
    end = "asks" if turn["finishReason"] == "interrupted" else "finished"
    return {"records": published, "end": end, "result": turn["message"]}


if __name__ == "__main__":
    found = versions("genkit", "genkit-fastapi", "genkit-middleware")
    serve(hello=lambda _: found, ask=ask, resume=resume)
