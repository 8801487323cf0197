"""Which actions a question takes, what a payload must look like, and what stands for a no.

An approval has one schema for all its actions. So where a payload is restricted by more than what
every restart asks of it, only the action is offered that the schema is for.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from bridge.core.model import JsonText
from bridge.protocols.genkit.message import Request
from bridge.protocols.genkit.options import Action, Runtime, Tool

TOOL_APPROVAL: Final = "genkit-middleware/toolApproval"
_HELD = ("Tool not in approved list: ", "Approval judge asked to confirm", "Approval judge failed")

# A restart's payload goes to `metadata.resumed`: runtimes understand an object, or true for none.
_RESTART_PAYLOAD: Final = b'{"anyOf":[{"type":"object"},{"enum":[true,null]}]}'
# Python lets a tool run for any truthy value under either spelling, so only the boolean passes.
_APPROVAL: Final = (
    b'{"type":"object","required":["toolApproved"],'
    b'"properties":{"toolApproved":{"const":true},"tool_approved":false}}'
)
_DECISION: Final = (
    b'{"type":"object","required":["toolApproved"],'
    b'"properties":{"toolApproved":{"type":"boolean"},"tool_approved":false}}'
)

Hold = Literal["none", "approve", "decide"]
"""What a restart means to the middleware that holds the call: nothing held; only yes; yes or no."""


class Offer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What building the resume needs to know of a question; kept with it as JSON.

    `action` is that of an answer which says none.
    """

    action: Action
    hold: Hold = "none"
    revise: bool = False
    refusal: Raw | UnsetType = UNSET


def hold_of(request: Request, runtime: Runtime | None) -> Hold:
    """Whether ToolApproval holds the call. Only the runtime that names it takes a no."""
    if request.raised_by is not None:
        if request.raised_by != TOOL_APPROVAL:
            return "none"
        return "decide" if runtime in ("go", None) else "approve"
    interrupt = request.metadata.get("interrupt")
    message = interrupt.get("message") if isinstance(interrupt, dict) else None
    return "approve" if isinstance(message, str) and message.startswith(_HELD) else "none"


def offer_of(request: Request, tool: Tool, runtime: Runtime | None, ambiguous: bool) -> Offer:
    hold: Hold = "none" if ambiguous else hold_of(request, runtime)
    action = _default_action(request, tool, hold, ambiguous)
    revise = tool.allow_revised_input and runtime == "go" and hold == "none" and not ambiguous
    return Offer(action, hold, revise, Raw(tool.refusal) if tool.refusal else UNSET)


def _default_action(request: Request, tool: Tool, hold: Hold, ambiguous: bool) -> Action:
    """Of a tool that nobody configured it is the one that never runs it."""
    if ambiguous:
        return "respond"
    if hold != "none" or request.raised_by is not None:
        return "restart"
    if tool.action is not None:
        return tool.action
    return "restart" if tool.resume_schema and not tool.output_schema else "respond"


def actions_of(request: Request, tool: Tool, offer: Offer, ambiguous: bool) -> tuple[Action, ...]:
    """The default first. Two only where one schema, or none, holds for both."""
    is_held = offer.hold != "none" or request.raised_by is not None
    is_fixed = tool.output_schema or tool.resume_schema or tool.action == "respond"
    if ambiguous or is_held or is_fixed:
        return (offer.action,)
    return ("restart", "respond") if offer.action == "restart" else ("respond", "restart")


def schema_of(tool: Tool, offer: Offer) -> JsonText | None:
    """Of the default action, which is the only one where the schema is not for any object."""
    if offer.hold == "decide":
        return _DECISION
    if offer.hold == "approve":
        # A no goes out as the refusal; where there is none, it would only ask again.
        return _DECISION if offer.refusal else _APPROVAL
    if offer.action == "restart":
        return tool.resume_schema or _RESTART_PAYLOAD
    return tool.output_schema


def flags_of(offer: Offer, ambiguous: bool) -> tuple[str, ...]:
    flags = ("ambiguous",) if ambiguous else ()
    if offer.hold == "decide" or offer.refusal:
        return flags
    return (*flags, "no_refusal")
