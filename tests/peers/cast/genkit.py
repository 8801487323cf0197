"""Genkit's three runtimes, each with the ways in which one of its agents pauses.

The agent is the same bank everywhere. Where two questions are asked in one turn, a tool that gives
0 has run between them: JavaScript takes its output for none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.peers.peer import Peer, SetName

_OWN_QUESTION: Final[Mapping[str, Any]] = {
    "action": "restart",
    "refusal": {"status": "declined"},
    "resume_schema": {
        "type": "object",
        "required": ["approved"],
        "properties": {"approved": {"type": "boolean"}, "note": {"type": "string"}},
    },
}
_RESPONSE: Final[Mapping[str, Any]] = {
    "action": "respond",
    "refusal": {"answer": "nobody answered"},
    "output_schema": {
        "type": "object",
        "required": ["answer"],
        "properties": {"answer": {"type": "string"}},
    },
}
_HELD: Final[Mapping[str, Any]] = {"refusal": {"status": "declined"}}


@dataclass(frozen=True, slots=True)
class _Pause:
    """One way to pause, and how it is answered."""

    title: str
    tools: Mapping[str, Any]
    action: str
    answer: Any
    wrong: Any
    proof: str


_PAUSES: Final[Mapping[str, _Pause]] = {
    "server": _Pause(
        "a tool asks, restart",
        {"transferMoney": _OWN_QUESTION},
        "restart",
        {"approved": True, "note": "agreed-4711"},
        {"approved": "perhaps"},
        "agreed-4711",
    ),
    "client": _Pause(
        "client-managed, respond",
        {"askUser": _RESPONSE},
        "respond",
        {"answer": "agreed-4711"},
        {"answer": 4711},
        "agreed-4711",
    ),
    "insists": _Pause(
        "client-managed, a tool asks the same again",
        {"transferMoney": _OWN_QUESTION},
        "restart",
        {"approved": True, "note": "agreed-4711"},
        {"approved": "perhaps"},
        "agreed-4711",
    ),
    "approval": _Pause(
        "ToolApproval",
        {"transferMoney": _HELD},
        "restart",
        {"toolApproved": True},
        {"toolApproved": "yes"},
        "sent",
    ),
}


@dataclass(frozen=True, slots=True)
class _Runtime:
    name: str
    title: str
    set: SetName
    program: str
    kinds: tuple[str, ...] = ("server", "client", "approval")


_RUNTIMES: Final = (
    _Runtime("js", "Genkit for JavaScript", "npm", "npm/genkit_js_peer.mjs"),
    # The others take a restarted tool that asks again for a failed turn.
    _Runtime("py", "Genkit for Python", "current", "genkit_py_peer.py", tuple(_PAUSES)),
    _Runtime("go", "Genkit for Go", "go", "genkit_go_peer"),
)


def _peer(runtime: _Runtime, kind: str, pause: _Pause) -> Peer:
    # Runtime, agent and state management are told by the records' wrapper.
    return Peer(
        name=f"genkit-{runtime.name}-{kind}",
        title=f"{runtime.title}, {pause.title}",
        protocol="genkit",
        set=runtime.set,
        program=runtime.program,
        arguments=(kind,),
        source={"options": {"tools": pause.tools}},
        answer=pause.answer,
        action=pause.action,
        proof=pause.proof,
        wrong=pause.wrong,
    )


PEERS: Final = tuple(
    _peer(runtime, kind, _PAUSES[kind]) for runtime in _RUNTIMES for kind in runtime.kinds
)
