"""A peer program that asks for refunds over AG-UI and may misbehave in one way, named by its
argument.

honest · ignores (refunds nothing whatever was answered) · insists (refunds what was cancelled) ·
stops (ends instead of asking again) · unreadable (its resumed run ends with what is no event) ·
speechless (its resumed run has no events) · silent · crashes · raises
"""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "peers" / "programs"))

from talk import Reply, Request, record, serve

LIE = sys.argv[1]
SCHEMA = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}},
    "required": ["approved"],
}
left: dict[str, int] = {}  # how often each thread will still ask


def ends(thread: str, run: str, asks: int) -> Reply:
    """A run's end that asks so many questions, as the record of an event."""
    interrupts = [
        {"id": f"{run}/{number}", "reason": "confirmation", "responseSchema": SCHEMA}
        for number in range(asks)
    ]
    outcome = {"type": "interrupt", "interrupts": interrupts} if asks else {"type": "success"}
    event = {"type": "RUN_FINISHED", "threadId": thread, "runId": run, "outcome": outcome}
    return record(thread, json.dumps(event))


def ask(request: Request) -> Reply:
    thread = str(uuid.uuid4())
    left[thread] = 1 if request["case"] == "again" else 0
    return {"records": [ends(thread, str(uuid.uuid4()), 2 if request["case"] == "two" else 1)]}


def resume(request: Request) -> Reply:
    misbehave()
    body = request["native"]["body"]
    thread, run = body["threadId"], body["runId"]
    if LIE == "unreadable":
        return {"records": [record(thread, "no JSON")], "end": "finished", "result": "refunded"}
    if LIE == "speechless":
        return {"records": [], "end": "finished", "result": "refunded"}
    left[thread] -= 1
    if left[thread] >= 0 and LIE != "stops":
        return {"records": [ends(thread, run, 1)], "end": "asks", "result": None}
    refunded = [entry.get("payload", {}).get("approved") is True for entry in body["resume"]]
    done = {"ignores": False, "insists": True}.get(LIE, any(refunded))
    result = "refunded" if done else "nothing"
    return {"records": [ends(thread, run, 0)], "end": "finished", "result": result}


def misbehave() -> None:
    if LIE == "silent":
        time.sleep(60)
    if LIE == "crashes":
        print("the reason of the crash", file=sys.stderr, flush=True)
        os._exit(3)
    if LIE == "raises":
        raise LookupError("no such thread")


serve(hello=lambda _: {"versions": {"liar": "1.0"}}, ask=ask, resume=resume)
