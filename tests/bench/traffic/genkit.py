"""Genkit turns that finish: their streams, their outputs in a wrapper, and their snapshots.

For one turn of a stream of sixteen chunks come a wrapped output and a snapshot; the turns have
histories of 4, 12 and 40 messages, so that snapshots take about 1, 3 and 10 kB.
"""

from __future__ import annotations

from typing import Any, Final

from tests.bench.traffic.sample import Sample, prose, sample

_CHUNKS: Final = 16
_HISTORIES: Final = (4, 12, 40)
_AT: Final = "2026-11-29T19:06:28.229Z"
_IDS: Final = {"sessionId": "sess-4b5ba50f", "snapshotId": "9a1de644-0c6f-4f0f-8c11-2a5b0e5f6b77"}
_INPUT: Final = {"to": "payee-1", "amount": 50, "currency": "EUR"}


def _message(role: str, words: str) -> dict[str, Any]:
    return {"role": role, "content": [{"text": words}]}


def _messages(count: int) -> list[dict[str, Any]]:
    """Texts by turns, and now and then a tool's call with its result."""
    said: list[dict[str, Any]] = []
    for number in range(count // 4):
        ref = f"call-{number}"
        call = {"toolRequest": {"name": "lookUp", "ref": ref, "input": _INPUT}}
        result = {"toolResponse": {"name": "lookUp", "ref": ref, "output": {"found": True}}}
        said += [
            _message("user", prose(160)),
            {"role": "model", "content": [call]},
            {"role": "tool", "content": [result]},
            _message("model", prose(240)),
        ]
    return said


def _output(**members: Any) -> dict[str, Any]:
    return {**_IDS, "finishReason": "stop", "message": _message("model", prose(240)), **members}


def _wrapped(output: dict[str, Any]) -> dict[str, Any]:
    return {
        "protocol": "genkit",
        "agent": "bank",
        "runtime": "go",
        "stateManagement": "server",
        "output": output,
    }


def _snapshot(messages: int, **members: Any) -> dict[str, Any]:
    state = {"sessionId": _IDS["sessionId"], "messages": _messages(messages), "artifacts": []}
    times = {"createdAt": _AT, "updatedAt": _AT}
    ended = {"status": "completed", "finishReason": "stop"}
    return {**_IDS, "parentId": "p-1", **times, **ended, "state": state, **members}


def _paused() -> list[dict[str, Any]]:
    """A conversation whose last message waits for an approval."""
    call = {"toolRequest": {"name": "transferMoney", "ref": "call-9", "input": _INPUT}}
    asks = {**call, "metadata": {"interrupt": {"reason": prose(60)}}}
    return [*_messages(12), {"role": "model", "content": [asks]}]


def _turn(messages: int) -> list[Sample]:
    chunk = {"modelChunk": {"role": "model", "index": 0, "content": [{"text": prose(24)}]}}
    end = {"turnEnd": {"snapshotId": _IDS["snapshotId"], "finishReason": "stop"}}
    size = f"{messages} messages"
    return [
        *[sample("chunk", chunk)] * _CHUNKS,
        sample("turn end", end),
        sample("output, wrapped", _wrapped(_output())),
        sample(f"snapshot, {size}", _snapshot(messages)),
        sample(
            f"output of a client, {size}",
            {**_output(), "state": {"messages": _messages(messages)}},
        ),
    ]


QUIET: Final[tuple[Sample, ...]] = tuple(one for size in _HISTORIES for one in _turn(size))

_PAUSED: Final = _paused()
RARE: Final[tuple[Sample, ...]] = (
    sample(
        "output that asks, wrapped",
        _wrapped(_output(finishReason="interrupted", message=_PAUSED[-1])),
    ),
    sample(
        "snapshot that asks",
        _snapshot(0, finishReason="interrupted", state={"messages": _PAUSED}),
    ),
)
