"""ADK's items: function calls that run long, in parts that are marked so.

The prefix of the marks is the framework's that uses ADK: `adk_type`, `kagent_type`. An answer bears
the marks that its question had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Raw

from bridge.core.model import JsonText
from bridge.protocols.a2a.items import Item, Part, read_as
from bridge.protocols.fields import Unreadable
from bridge.protocols.slices import given, members_of

TYPE, LONG = "_type", "_is_long_running"

_CONFIRMED = (
    b'{"type":"object","properties":{"confirmed":{"type":"boolean"}},"required":["confirmed"]}'
)
# kagent's ADK takes its own decision, too.
_DECIDED = (
    b'{"anyOf":[' + _CONFIRMED + b","
    b'{"type":"object","properties":{"decision_type":{"enum":["approve","reject","deny"]}},'
    b'"required":["decision_type"]}]}'
)


class _Confirmation(msgspec.Struct):
    hint: str | None = None


class _Args(msgspec.Struct):
    message: str | None = None
    response_schema: Raw = Raw()
    responseSchema: Raw = Raw()
    toolConfirmation: _Confirmation | None = None


class _Call(msgspec.Struct):
    id: str | None = None
    name: str | None = None
    args: Raw = Raw()


def marks_of(part: Part) -> dict[str, JsonText]:
    """The types that marks of a part name, by the marks' prefix."""
    members = members_of(bytes(part.metadata)) if bytes(part.metadata) else {}
    return {
        name.removesuffix(TYPE): value for name, value in members.items() if name.endswith(TYPE)
    }


def calls_of(parts: Sequence[Part]) -> Iterator[Item]:
    """Raises Unreadable for a call without an id, which nobody could answer."""
    for part in parts:
        marks = tuple(p for p, kind in marks_of(part).items() if kind == b'"function_call"')
        if not marks:
            continue
        members = members_of(bytes(part.metadata)).items()
        if not any(name.endswith(LONG) and value == b"true" for name, value in members):
            continue
        call = read_as(_Call, part.data)
        if call is None or not call.id:
            raise Unreadable("malformed", "", "a function call of the status has no id")
        args = read_as(_Args, call.args) or _Args()
        hint = args.toolConfirmation.hint if args.toolConfirmation else None
        schema = args.response_schema if given(args.response_schema) else args.responseSchema
        if _asks_for(call.name, "confirmation"):
            schema = Raw(_DECIDED if "kagent" in marks else _CONFIRMED)
        yield Item(
            "adk",
            id=call.id,
            name=call.name,
            message=args.message or hint or None,
            schema=schema,
            data=part.data,
            tool_call_id=call.id,
            marks=marks,
        )


def _asks_for(name: str | None, what: str) -> bool:
    """Whether a call is ADK's own for that; others that use ADK put their prefix before it."""
    return name is not None and name.endswith(f"_request_{what}")


def asks_for_credential(item: Item) -> bool:
    return item.shape == "adk" and _asks_for(item.name, "credential")


def answer_marks(marks: Sequence[str]) -> JsonText:
    """The metadata of an answer's part."""
    return msgspec.json.encode({f"{prefix}{TYPE}": "function_response" for prefix in marks})
