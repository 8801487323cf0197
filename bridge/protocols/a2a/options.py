"""What a source's configuration says about its A2A agents.

Where an answer is sent to stands only here: a record that named an endpoint could have answers,
and the executor's credentials, sent anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, Literal, cast
from urllib.parse import quote, urlsplit

from bridge.core.record import Header
from bridge.protocols.settings import refuse_unknown

Version = Literal["1.0", "0.3"]
Binding = Literal["jsonrpc", "rest"]
Shape = Literal[
    "plain",
    "text",
    "data",
    "langgraph",
    "adk",
    "strands",
    "approval",
    "form",
    "action",
    "kagent_tool",
    "kagent_question",
]
Filter = Literal["none", "without_message", "without_items"]

_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "protocol_version": ("1.0", "0.3"),
    "binding": ("jsonrpc", "rest"),
    # The other shapes need ids or addresses that only their own questions have.
    "answer_shape": ("plain", "text", "data", "langgraph", "adk", "strands"),
    "input_required_filter": ("none", "without_message", "without_items"),
}


@dataclass(frozen=True, slots=True)
class Options:
    """One source's settings.

    `agent` and `tenant` make the scope of its questions; record headers `a2a-agent` and
    `a2a-tenant` are used where they are not set. `protocol_version`, `binding` and `answer_shape`
    are found from each question where not set. `input_required_filter` names statuses that are no
    questions although their state says so, for agents that end every turn in INPUT_REQUIRED.
    """

    endpoint: str | None = None
    tenant: str | None = None
    agent: str | None = None
    protocol_version: Version | None = None
    binding: Binding | None = None
    answer_shape: Shape | None = None
    input_required_filter: Filter = "none"


NO_OPTIONS: Final = Options()


def read_options(given: Mapping[str, object]) -> Options:
    """Raises ValueError with the option's name, never its value."""
    refuse_unknown(given, [field.name for field in fields(Options)], "a2a")
    for name, value in given.items():
        if not isinstance(value, str) or not value:
            raise ValueError(f"option {name} must be a string that is not empty")
        if name in _CHOICES and value not in _CHOICES[name]:
            raise ValueError(f"option {name} must be one of {', '.join(_CHOICES[name])}")
    texts = cast(dict[str, str], dict(given))
    if "endpoint" in texts:
        try:
            parts = urlsplit(texts["endpoint"])
            usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
        except ValueError:
            usable = False
        if not usable:
            raise ValueError("option endpoint must be an http or https address")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("option endpoint must have no user, password, query or fragment")
        texts["endpoint"] = texts["endpoint"].rstrip("/")
    return Options(**texts)  # type: ignore[arg-type]  # held to the choices above


def identity(options: Options, headers: Sequence[Header]) -> tuple[str, str]:
    """(scope, tenant) of the agent that a record comes from; a scope is agent or agent/tenant."""
    named = {key: value for key, value in headers if key in _HEADERS} if headers else {}
    tenant = options.tenant or _text(named, "a2a-tenant")
    agent = options.agent or _text(named, "a2a-agent") or options.endpoint or ""
    if not tenant and "/" not in agent:
        return agent, tenant
    return f"{agent}/{quote(tenant, safe='')}", tenant  # two pairs never make one scope


_HEADERS = frozenset({"a2a-agent", "a2a-tenant"})


def _text(headers: Mapping[str, bytes], name: str) -> str:
    return headers[name].decode("utf-8", "replace") if headers.get(name) else ""
