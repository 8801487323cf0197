"""What a source's settings say about its agent and its tools.

Wrong settings are found when they are read, with the name of the key; schemas and refusals are
JSON text from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, TypeVar

from bridge.core.model import JsonText
from bridge.core.schema import SchemaCache
from bridge.protocols.settings import json_of, refuse_unknown

Action = Literal["restart", "respond"]
Runtime = Literal["go", "js", "py"]
Management = Literal["server", "client"]

RUNTIMES: Final[Mapping[str, Runtime]] = {"go": "go", "js": "js", "py": "py"}
MANAGEMENTS: Final[Mapping[str, Management]] = {"server": "server", "client": "client"}
_ACTIONS: Final[Mapping[str, Action]] = {"restart": "restart", "respond": "respond"}
ANY_TOOL: Final = "*"
_Word = TypeVar("_Word", bound=str)


@dataclass(frozen=True, slots=True)
class Tool:
    """How questions of one tool are answered.

    `action` is that of an answer which says none; a response excludes restarts. None: a restart if
    only a schema for one is given, else a response.
    """

    action: Action | None = None
    output_schema: JsonText | None = None
    resume_schema: JsonText | None = None
    refusal: JsonText | None = None
    """The tool's output when nobody may or wants to let it run; sent for abandoned questions."""
    allow_revised_input: bool = False


_UNKNOWN_TOOL = Tool()
_OBJECT: Final[Mapping[str, object]] = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Options:
    """A source's settings. What a record's wrapper says itself goes before them."""

    agent: str = ""
    runtime: Runtime | None = None
    state_management: Management | None = None
    tools: Mapping[str, Tool] = field(default_factory=lambda: MappingProxyType({}))

    def tool(self, name: str) -> Tool:
        return self.tools.get(name) or self.tools.get(ANY_TOOL) or _UNKNOWN_TOOL


NO_OPTIONS: Final = Options()


def read_options(given: Mapping[str, object]) -> Options:
    """Raises ValueError that names the key."""
    refuse_unknown(given, ("agent", "runtime", "state_management", "tools"), "genkit")
    tools = given.get("tools", {})
    if not isinstance(tools, Mapping):
        raise ValueError("genkit: tools must be a table of tools by name")
    agent = given.get("agent", "")
    if not isinstance(agent, str):
        raise ValueError("genkit: agent must be a text")
    options = Options(
        agent=agent,
        runtime=_one_of(RUNTIMES, given, "runtime", "genkit"),
        state_management=_one_of(MANAGEMENTS, given, "state_management", "genkit"),
        tools=MappingProxyType({str(name): _tool(str(name), tool) for name, tool in tools.items()}),
    )
    for name, tool in options.tools.items():
        if tool.allow_revised_input and options.runtime != "go":
            raise ValueError(
                f"genkit: tools.{name}.allow_revised_input needs runtime = go; "
                "the others refuse every changed input"
            )
    return options


def _tool(name: str, given: object) -> Tool:
    where = f"genkit: tools.{name}"
    if not isinstance(given, Mapping):
        raise ValueError(f"{where} must be a table")
    refuse_unknown(given, Tool.__match_args__, where)
    resumes = given.get("resume_schema", _OBJECT)
    if not isinstance(resumes, Mapping) or resumes.get("type") != "object":
        # Runtimes drop, ignore or misread a payload of a restart that is no object.
        raise ValueError(f'{where}.resume_schema must say "type": "object"')
    revises = given.get("allow_revised_input", False)
    if not isinstance(revises, bool):
        raise ValueError(f"{where}.allow_revised_input must be true or false")
    tool = Tool(
        action=_one_of(_ACTIONS, given, "action", where),
        output_schema=_schema(given, "output_schema", where),
        resume_schema=_schema(given, "resume_schema", where),
        refusal=json_of(given["refusal"], f"{where}.refusal") if "refusal" in given else None,
        allow_revised_input=revises,
    )
    if tool.resume_schema and tool.action == "respond":
        raise ValueError(f"{where}.resume_schema is of restarts, which action = respond excludes")
    if tool.allow_revised_input and tool.action != "restart":
        # An answer that revises the input and says no action has to mean that the tool runs.
        raise ValueError(f"{where}.allow_revised_input needs action = restart")
    if tool.output_schema and tool.refusal:
        problems = SchemaCache(1).problems(tool.output_schema, tool.refusal)
        if problems:
            raise ValueError(f"{where}.refusal does not fit output_schema at {problems[0].path!r}")
    return tool


def _one_of(
    known: Mapping[str, _Word], given: Mapping[str, object], key: str, where: str
) -> _Word | None:
    value = given.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{where}.{key} must be one of {', '.join(known)}")
    return known[value]


def _schema(given: Mapping[str, object], key: str, where: str) -> JsonText | None:
    if key not in given:
        return None
    text = json_of(given[key], f"{where}.{key}")
    problem = SchemaCache(1).unusable(text)
    if problem is not None:
        raise ValueError(f"{where}.{key} cannot be enforced: {problem}")
    return text
