"""Which actions a question takes, what the payload of each must look like, and what is a no.

Everything here comes from the source's settings and the paused part; answers are held to it before
anything is built, so that what goes out is what the runtime takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from bridge.core.model import JsonText
from bridge.protocols.genkit.message import Request
from bridge.protocols.genkit.options import Action, Runtime, Tool

TOOL_APPROVAL: Final = "genkit-middleware/toolApproval"
_HELD = ("Tool not in approved list: ", "Approval judge asked to confirm", "Approval judge failed")

ANYTHING: Final = b"true"
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


Schemas = Mapping[Action, JsonText]


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """What building the resume needs to know of a question; kept with it as JSON."""

    hold: Hold = "none"
    refusal: Raw | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class Offer:
    """`schemas` has one for each action, that of an answer which says none first."""

    schemas: Schemas
    hold: Hold
    refusal: JsonText | None
    is_ambiguous: bool = False
    is_revisable: bool = False

    @property
    def actions(self) -> tuple[Action, ...]:
        return tuple(self.schemas)

    @property
    def flags(self) -> tuple[str, ...]:
        flags = ("ambiguous",) if self.is_ambiguous else ()
        if self.hold == "decide" or self.refusal:
            return flags
        return (*flags, "no_refusal")

    def response_schema(self, limit: int) -> JsonText | None:
        """Of the default action; not where the core would leave it alone for its size."""
        schema = self.schemas[self.actions[0]]
        return None if schema == ANYTHING or len(schema) > limit else schema

    def action_schemas(self, shown: JsonText | None) -> tuple[tuple[str, JsonText], ...]:
        """Of each action for which the response schema that is `shown` does not hold."""
        usual = shown or ANYTHING
        return tuple((name, schema) for name, schema in self.schemas.items() if schema != usual)

    def kept(self) -> JsonText:
        return msgspec.json.encode(Kept(self.hold, Raw(self.refusal) if self.refusal else UNSET))


def offer_of(request: Request, tool: Tool, runtime: Runtime | None, ambiguous: bool) -> Offer:
    """What a paused call takes. `ambiguous`: no runtime can tell it from another call."""
    respond: Schemas = {"respond": tool.output_schema or ANYTHING}
    if ambiguous:
        return Offer(respond, "none", tool.refusal, is_ambiguous=True)
    hold = _hold_of(request, runtime)
    restart: Schemas = {"restart": tool.resume_schema or _RESTART_PAYLOAD}
    if hold != "none":
        # A no goes out as the refusal; where there is none, it would only ask again.
        decides = hold == "decide" or tool.refusal
        schemas: Schemas = {"restart": _DECISION if decides else _APPROVAL, **respond}
    elif request.raised_by is not None:
        schemas = {"restart": _RESTART_PAYLOAD, **respond}  # the tool itself asks nothing yet
    elif tool.action == "respond":
        schemas = respond  # it may not know restarts at all
    elif tool.action == "restart" or (tool.resume_schema and not tool.output_schema):
        schemas = {**restart, **respond}
    else:
        # Of a tool that nobody configured the default is the action that never runs it.
        schemas = {**respond, **restart}
    revisable = tool.allow_revised_input and runtime == "go" and hold == "none"
    return Offer(schemas, hold, tool.refusal, is_revisable=revisable)


def _hold_of(request: Request, runtime: Runtime | None) -> Hold:
    """Whether ToolApproval holds the call. Only the runtime that names it takes a no."""
    if request.raised_by is not None:
        if request.raised_by != TOOL_APPROVAL:
            return "none"
        return "decide" if runtime in ("go", None) else "approve"
    interrupt = request.metadata.get("interrupt")
    message = interrupt.get("message") if isinstance(interrupt, dict) else None
    return "approve" if isinstance(message, str) and message.startswith(_HELD) else "none"
