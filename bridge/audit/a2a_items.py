"""The items of an A2A question, as each framework writes them, and how each is to be answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from bridge.audit import a2a_kagent, text
from bridge.audit.readings import Json, Question, check_texts, is_text

_AGENTSTACK = "https://a2a-extensions.agentstack.beeai.dev"
URIS = {
    "approval": f"{_AGENTSTACK}/interactions/approval/v1",
    "form": f"{_AGENTSTACK}/ui/form_request/v1",
}


def parts_of(message: Json) -> list[dict[str, Any]]:
    """The parts of a message; before 1.0 its proto JSON boxes their data."""
    listed = message.get("parts") or message.get("content") or []
    if not isinstance(listed, list) or not all(isinstance(part, dict) for part in listed):
        raise text.Unreadable("parts that are no objects")
    parts = [dict(part) for part in listed]
    for part in parts:
        check_texts(part, "text", "url")
        data = part.get("data")
        if message.get("parts") is None and isinstance(data, dict) and "data" in data:
            part["data"] = data["data"]
    return parts


def of_message(message: Json, parts: Sequence[Json]) -> tuple[Question, ...]:
    """Empty where the message is one plain question."""
    items = (
        a2a_kagent.items_of(message)
        or list(_adk(parts))
        or list(_strands(parts))
        or list(_metadata(message))
    )
    if not _agree(items):
        raise text.Unreadable("two items with one id")
    return _distinct(items)


def asks_for_credential(message: Json, items: Sequence[Question]) -> bool:
    """By names that mean nothing else, whatever the state is."""
    metadata = message.get("metadata")
    has_uri = isinstance(metadata, dict) and any(uri in metadata for uri in _CREDENTIALS)
    return has_uri or any(
        item.native["shape"] == "adk"
        and str(item.native.get("name")).endswith("_request_credential")
        for item in items
    )


def of_artifact(artifact: Json) -> tuple[Question, ...]:
    """LangGraph's items; none where they contradict each other."""
    items = list(_langgraph(artifact))
    return _distinct(items) if _agree(items) else ()


_CREDENTIALS = (
    f"{_AGENTSTACK}/auth/oauth/v1",
    f"{_AGENTSTACK}/auth/secrets/v1",
    "https://github.com/a2aproject/experimental-ext-oid4vp-auth/tree/main/v1",
)


def _adk(parts: Sequence[Json]) -> Iterator[Question]:
    for part in parts:
        marks = part.get("metadata")
        if not isinstance(marks, dict):
            continue
        types = [n for n, v in marks.items() if n.endswith("_type") and v == "function_call"]
        waits = any(n.endswith("_is_long_running") and v is True for n, v in marks.items())
        if not (types and waits):
            continue
        call = part.get("data")
        if not isinstance(call, dict) or not (is_text(call.get("id")) and call["id"]):
            raise text.Unreadable("a function call without an id")
        given = call.get("args")
        args = given if isinstance(given, dict) else {}
        held = args.get("toolConfirmation")
        words = args.get("message") or (held.get("hint") if isinstance(held, dict) else None)
        schema = args.get("response_schema") or args.get("responseSchema")
        if str(call.get("name")).endswith("_request_confirmation"):
            schema = None  # the bridge knows what a confirmation is
        found = _item("adk", call, call["id"], call.get("name"), words, schema)
        yield replace(found, native={**found.native, "marks": types})


def _strands(parts: Sequence[Json]) -> Iterator[Question]:
    for part in parts:
        data = part.get("data")
        listed = data.get("interrupts") if isinstance(data, dict) else None
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, dict) and is_text(one.get("interruptId")) and one["interruptId"]:
                id_, words = one["interruptId"], one.get("reason")
                schema, expires = one.get("responseSchema"), one.get("expiresAt")
                yield _item("strands", one, id_, one.get("name"), words, schema, expires)


def _langgraph(artifact: Json) -> Iterator[Question]:
    parts = artifact.get("parts")
    for part in parts if isinstance(parts, list) else ():
        data = part.get("data") if isinstance(part, dict) else None
        if isinstance(data, dict) and is_text(data.get("id")):
            asked = data.get("value")
            words = [asked]
            if isinstance(asked, dict):
                words = [asked.get(name) for name in ("question", "message", "prompt")]
            said = next((word for word in words if is_text(word) and word), None)
            said = said or artifact.get("description")
            yield _item("langgraph", data, data["id"], None, said, data.get("response_schema"))


def _metadata(message: Json) -> Iterator[Question]:
    found = message.get("metadata")
    if not isinstance(found, dict):
        return
    for shape, uri in URIS.items():
        if uri in found:
            asked = found[uri] if isinstance(found[uri], dict) else {}
            words = [word for word in (asked.get("title"), asked.get("description")) if word]
            name = asked.get("name") if shape == "approval" else None
            yield _item(shape, found[uri], None, name, "\n".join(words) or None)
            return
    if is_text(found.get("action_id")) and found["action_id"]:
        yield Question(found["action_id"], {}, {}, {"shape": "action"})


def _item(
    shape: str,
    data: Any,
    id_: str | None,
    name: Any,
    words: Any,
    schema: Any = None,
    expires: Any = None,
) -> Question:
    """Without a schema of its own the bridge may give it one."""
    shown = {"reason": name, "tool_call_id": id_ if shape == "adk" else None}
    shown["expires_at_raw"] = expires
    if is_text(words) and words:
        shown["message"] = words
    if schema is not None:
        shown["response_schema"] = schema
    return Question(id_, shown, {"item": data}, {"shape": shape, "name": name})


def _agree(items: Sequence[Question]) -> bool:
    seen: dict[str | None, Question] = {}
    return all(
        text.same([first.shown, first.metadata], [item.shown, item.metadata])
        for item in items
        for first in (seen.setdefault(item.id, item),)
    )


def _distinct(items: Sequence[Question]) -> tuple[Question, ...]:
    found: dict[str | None, Question] = {}
    for item in items:
        found.setdefault(item.id, item)
    return tuple(found.values())
