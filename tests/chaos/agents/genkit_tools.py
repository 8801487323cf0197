"""The tools of Genkit agents: what their settings say, and how their questions are answered."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Final, Literal, NamedTuple

from tests.chaos.agents.play import Given

Body = dict[str, Any]
Runtime = Literal["go", "js", "py"]
GO_HOLD = "genkit-middleware/toolApproval"

SETTINGS: Final[Mapping[str, Body]] = {
    "transferMoney": {
        "action": "restart",
        "refusal": {"status": "declined"},
        "allow_revised_input": True,
    },
    "askUser": {
        "action": "respond",
        "output_schema": {
            "type": "object",
            "properties": {"answer": {"type": "string"}},
            "required": ["answer"],
        },
    },
    "bookSeat": {
        "action": "restart",
        "resume_schema": {
            "type": "object",
            "properties": {"seats": {"type": "array", "minItems": 1}},
            "required": ["seats"],
        },
        "output_schema": {"type": "object", "required": ["booked"]},
        "refusal": {"booked": False},
    },
}
"""askUser has no refusal, nor have the tools that are not named: who gives them up gives up all."""


class Call(NamedTuple):
    """A tool request that waits; `ref` None leaves it out. Several `copies` are one question."""

    tool: str
    ref: str | None
    input: Body
    interrupt: Any
    held_by_go: bool
    valid: tuple[Given, Given]
    invalid: Given | None
    has_refusal: bool
    copies: int = 1

    def part(self, **changed: Any) -> Body:
        request: Body = {"name": self.tool, "input": self.input | changed}
        if self.ref is not None:
            request["ref"] = self.ref
        marks: Body = {"interrupt": self.interrupt}
        if self.held_by_go:
            marks["interruptedBy"] = GO_HOLD
        return {"toolRequest": request, "metadata": marks}


def transfer(chance: Random, ref: str | None, runtime: Runtime) -> Call:
    """A tool of one's own that asks before it runs; Go lets its input be revised."""
    other = Given('{"confirmationId":"c-1","amount":50.0}', {"action": "respond"})
    if runtime == "go" and chance.random() < 0.5:
        revised = {"to": "payee-2", "amount": 25.50}
        other = Given("true", {"action": "restart", "revised_input": revised})
    asked = {"to": "payee-1", "amount": 50.0, "order": 2**60}
    interrupt = {"reason": "Approval is required before transferring money."}
    valid = (Given('{"approved":true,"limit":1e2}'), other)
    return Call("transferMoney", ref, asked, interrupt, False, valid, Given("7"), True)


def ask_user(chance: Random, ref: str | None, runtime: Runtime) -> Call:
    """A question whose answer is the tool's output, to a schema."""
    valid = (Given('{"answer":"yes"}'), Given('{"answer":"nein 🦀"}', {"action": "respond"}))
    invalid = chance.choice((Given('{"answer":5}'), Given("true", {"action": "restart"})))
    return Call("askUser", ref, {"question": "Größe?"}, True, False, valid, invalid, False)


def book_seat(chance: Random, ref: str | None, runtime: Runtime) -> Call:
    """Either action, each with a schema of its own."""
    valid = (Given('{"seats":["12A"]}'), Given('{"booked":true}', {"action": "respond"}))
    invalid = chance.choice(
        (Given('{"seats":[]}'), Given('{"seats":["1A"]}', {"action": "respond"}))
    )
    asked = {"message": "Choose seats", "flight": "LH441"}
    return Call("bookSeat", ref, {"flight": "LH441"}, asked, False, valid, invalid, True)


def held(chance: Random, ref: str | None, runtime: Runtime) -> Call:
    """A call that ToolApproval holds. Only Go names the hook, and takes a no by restart."""
    is_go = runtime == "go"
    no = Given('{"toolApproved":false}', {"action": "restart"})
    valid = (
        Given('{"toolApproved":true}', {"action": "restart"}),
        no if is_go else Given('{"deleted":0}', {"action": "respond"}),
    )
    invalid = Given('{"toolApproved":"yes"}', {"action": "restart"})
    interrupt = {"message": "Tool not in approved list: deleteFiles"}
    return Call("deleteFiles", ref, {"paths": ["/data"]}, interrupt, is_go, valid, invalid, is_go)


def unknown(chance: Random, ref: str | None, runtime: Runtime) -> Call:
    """A tool that no setting names: it is answered by a response, whatever it is."""
    valid = (Given("12e0"), Given('{"found":null}', {"action": "respond"}))
    return Call("lookUp", ref, {"id": 2**53 + 1}, {"question": "Which?"}, False, valid, None, False)


def alike() -> Call:
    """Two calls that nothing tells apart, as JavaScript and Python may have them: one response
    answers both, and a restart answers neither.
    """
    valid = (Given('{"confirmationId":"c-2"}'), Given("1e1", {"action": "respond"}))
    invalid = Given("true", {"action": "restart"})
    asked = {"to": "payee-3", "amount": 7}
    return Call("transferMoney", None, asked, True, False, valid, invalid, True, copies=2)


TOOLS = (transfer, transfer, ask_user, book_seat, held, unknown)
