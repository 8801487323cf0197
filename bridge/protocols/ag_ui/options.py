"""What a source's settings say about its agents: who they are, and their older way to ask.

Wrong settings are found when they are read, with the name of the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bridge.core.model import JsonText
from bridge.protocols.framing import read_pointer
from bridge.protocols.settings import json_of, refuse_unknown

_KNOWN: Final = ("agent", "agent_pointer", "legacy", "legacy_refusal")


@dataclass(frozen=True, slots=True)
class Options:
    """`agent` is of every event; without it the record's header says it, else what stands at
    `agent_pointer`, a JSON Pointer as its tokens. `legacy` reads `CUSTOM on_interrupt`, and
    `legacy_refusal` is what such a question gets when it is abandoned.
    """

    agent: str = ""
    agent_pointer: tuple[str, ...] = ()
    legacy: bool = True
    legacy_refusal: JsonText | None = None


NO_OPTIONS: Final = Options()


def read_options(given: Mapping[str, object]) -> Options:
    """Raises ValueError that names the key."""
    refuse_unknown(given, _KNOWN, "ag-ui")
    agent, pointer = _text(given, "agent"), _text(given, "agent_pointer")
    if agent and pointer:
        raise ValueError("ag-ui: give either agent, for every event, or agent_pointer")
    legacy = given.get("legacy", True)
    if not isinstance(legacy, bool):
        raise ValueError("ag-ui: legacy must be true or false")
    if "legacy_refusal" in given and not legacy:
        raise ValueError("ag-ui: legacy_refusal is for questions that legacy = false does not read")
    try:
        tokens = read_pointer(pointer) if pointer else ()  # the empty one names no member
    except ValueError:
        detail = "agent_pointer must be a JSON Pointer, like /metadata/agentId"
        raise ValueError(f"ag-ui: {detail}") from None
    refusal: JsonText | None = None
    if "legacy_refusal" in given:
        refusal = json_of(given["legacy_refusal"], "ag-ui: legacy_refusal")
    return Options(agent, tokens, legacy, refusal)


def _text(given: Mapping[str, object], key: str) -> str:
    value = given.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f"ag-ui: {key} must be a text")
    return value
