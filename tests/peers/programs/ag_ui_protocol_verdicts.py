"""What the models of Python's ag-ui-protocol make of hand-made events, by their names."""

from __future__ import annotations

from typing import Any

from ag_ui.core import Event
from pydantic import TypeAdapter, ValidationError
from talk import Reply, Request, serve, versions

EVENTS: TypeAdapter[Any] = TypeAdapter(Event)


def verdict(event: dict[str, Any]) -> dict[str, Any]:
    """Whether it is taken, and the interrupts that are then in it, written out again."""
    try:
        read = EVENTS.validate_python(event)
    except ValidationError as error:
        return {"verdict": "rejected", "problem": error.errors()[0]["msg"]}
    outcome = read.model_dump(by_alias=True, exclude_none=True).get("outcome") or {}
    return {"verdict": "accepted", "interrupts": outcome.get("interrupts", [])}


def judge(request: Request) -> Reply:
    cases = request["made"]["run_finished"]
    return {"run_finished": {case["name"]: verdict(case["event"]) for case in cases}}


if __name__ == "__main__":
    serve(hello=lambda _: versions("ag-ui-protocol"), judge=judge)
