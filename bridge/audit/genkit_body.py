"""The resume of a Genkit turn: one part for each question, with what was answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bridge.audit import text
from bridge.audit.readings import Asked, Json, Settled


def faults(native: Json, asked: Asked, settled: Sequence[Settled]) -> Iterator[str]:
    """`native` is the command's, ready to send."""
    body = native["body"]
    data = body.get("data")
    resume = data.get("resume") if isinstance(data, dict) else None
    if native.get("method") != "resume" or not isinstance(resume, dict):
        yield "a command that resumes no turn"
        return
    wanted: dict[str, list[Any]] = {"restart": [], "respond": []}
    for one in settled:
        for kind, part in _parts(one):
            wanted[kind].append(part)
    wanted["respond"] += [_respond(*sibling) for sibling in asked.native["siblings"]]
    if any(None in parts for parts in wanted.values()):
        yield "a question without an answer and without a refusal was resumed"
    elif not text.alike(resume, {kind: parts for kind, parts in wanted.items() if parts}):
        yield "a turn is resumed with other parts than were answered"
    if not text.alike(body.get("init"), asked.native["init"]):
        yield "another turn is resumed"


def _parts(one: Settled) -> Iterator[tuple[str, Json | None]]:
    """What an entry becomes; None where nothing may be sent for it."""
    request, asked = one.question.native, one.question.native["asked"]
    approves = isinstance(one.payload, dict) and one.payload.get("toolApproved") is True
    if one.entry.get("status") == "cancelled":
        yield _refusal(request, str(one.entry.get("closed_reason")))
    elif one.action == "respond":
        yield "respond", _respond(asked, one.payload)
    elif request["held"] and not request["decides"] and not approves:
        yield _refusal(request, "not_approved")
    else:
        resumed = True if one.payload is None else one.payload
        yield "restart", _restart(asked, resumed, one.answer.get("revised_input"))


def _refusal(request: Json, why: str) -> tuple[str, Json | None]:
    if request["refusal"] is not None:
        return "respond", _respond(request["asked"], request["refusal"])
    if request["decides"]:
        said = {"toolApproved": False, "reason": why}
        return "restart", _restart(request["asked"], said, None)
    return "respond", None


def _restart(asked: Json, resumed: Any, revised: Any) -> Json:
    request = {name: asked[name] for name in ("name", "ref", "input") if name in asked}
    if revised is None:
        return {"toolRequest": request, "metadata": {"resumed": resumed}}
    replaced = {"resumed": resumed, "replacedInput": asked.get("input")}
    return {"toolRequest": {**request, "input": revised}, "metadata": replaced}


def _respond(asked: Json, output: Any) -> Json:
    response = {name: asked[name] for name in ("name", "ref") if name in asked}
    marks = {"interruptResponse": True}
    return {"toolResponse": {**response, "output": output}, "metadata": marks}
