"""One AG-UI run as it streams: an input, text and tool calls bit by bit, states, and an end.

66 events; the input and the snapshot of the messages hold a conversation of six messages.
"""

from __future__ import annotations

from typing import Any, Final

from tests.bench.traffic.sample import Sample, prose, sample

_RUN: Final = {"threadId": "7f0c7bb2-6e2f-4be0-9a3d-9f8f6f1c2f5e", "runId": "run-18"}
_AT: Final = {"timestamp": 1_796_000_000_123}
_MESSAGE: Final = {"messageId": "1f4de0b8-2f6a-4b8e-8b54-f3f3f0a5c0de"}
_CALL: Final = {"toolCallId": "call_9hWq0ZkA1v"}
_STATE: Final = {"order": "4711", "steps": ["found", "checked"], "total": 50.25, "open": True}
_SCHEMA: Final = {
    "type": "object",
    "properties": {"order": {"type": "string"}, "amount": {"type": "number"}},
    "required": ["order"],
}


def _event(kind: str, **members: Any) -> Sample:
    return sample(kind, {"type": kind, **members, **_AT})


def _messages() -> list[dict[str, Any]]:
    roles = ("user", "assistant") * 3
    return [{"id": f"m-{n}", "role": role, "content": prose(180)} for n, role in enumerate(roles)]


def _tools() -> list[dict[str, Any]]:
    return [
        {"name": name, "description": prose(90), "parameters": _SCHEMA}
        for name in ("lookUp", "refund", "notify")
    ]


def _started() -> Sample:
    given = {
        **_RUN,
        "state": _STATE,
        "messages": _messages(),
        "tools": _tools(),
        "context": [{"description": "locale", "value": "en-GB"}],
        "forwardedProps": {},
    }
    return _event("RUN_STARTED", **_RUN, input=given)


def _text(pieces: int) -> list[Sample]:
    return [
        _event("TEXT_MESSAGE_START", **_MESSAGE, role="assistant"),
        *[_event("TEXT_MESSAGE_CONTENT", **_MESSAGE, delta=prose(24))] * pieces,
        _event("TEXT_MESSAGE_END", **_MESSAGE),
    ]


def _call(pieces: int) -> list[Sample]:
    return [
        _event("TOOL_CALL_START", **_CALL, toolCallName="lookUp"),
        *[_event("TOOL_CALL_ARGS", **_CALL, delta='{"order":"47')] * pieces,
        _event("TOOL_CALL_END", **_CALL),
        _event("TOOL_CALL_RESULT", **_MESSAGE, **_CALL, content=prose(300), role="tool"),
    ]


QUIET: Final[tuple[Sample, ...]] = (
    _started(),
    _event("STATE_SNAPSHOT", snapshot=_STATE),
    _event("STEP_STARTED", stepName="look up"),
    *_call(10),
    *[_event("STATE_DELTA", delta=[{"op": "replace", "path": "/open", "value": False}])] * 3,
    _event("STEP_FINISHED", stepName="look up"),
    *_text(40),
    _event("CUSTOM", name="trace", value={"tokens": 812}),
    _event("MESSAGES_SNAPSHOT", messages=_messages()),
    _event("RUN_FINISHED", **_RUN, outcome={"type": "success"}),
)

RARE: Final[tuple[Sample, ...]] = (
    _event("RUN_STARTED without input", **_RUN)._replace(value=_event("RUN_STARTED", **_RUN).value),
    sample("RUN_ERROR", {"type": "RUN_ERROR", "message": prose(60), "code": "X", **_AT}),
    sample(
        "RUN_FINISHED without outcome", {"type": "RUN_FINISHED", **_RUN, "result": _STATE, **_AT}
    ),
    sample(
        "RUN_FINISHED that asks",
        {
            "type": "RUN_FINISHED",
            **_RUN,
            "outcome": {
                "type": "interrupt",
                "interrupts": [
                    {
                        "id": "int-1",
                        "reason": "tool_call",
                        "message": prose(120),
                        **_CALL,
                        "responseSchema": _SCHEMA,
                    }
                ],
            },
        },
    ),
)
