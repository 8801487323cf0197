"""One A2A task from its start to its end, told in three dialects: 1.0, 0.3, and 1.0 by JSON-RPC.

26 events each: the task as it was submitted, three updates of its status, an artifact in twenty
pieces, and the completed task with its history. 1.0 ends on a status too.
"""

from __future__ import annotations

from typing import Any, Final

from tests.bench.traffic.sample import Sample, prose, sample

_CONTEXT: Final = "0a7d9b3e-3f52-4b0e-9f5e-5b8f3f0f7c11"
_TASK: Final = "d56727c4-c2f1-406c-916b-59aa470fd8c8"
_AT: Final = "2026-11-29T19:04:32.647939Z"
_PIECES: Final = 20
_SCHEMA: Final = {"type": "object", "properties": {"branch": {"type": "string"}}}


class _Dialect:
    """How one of them writes objects; `kinds` and lower-case words are those of 0.3."""

    def __init__(self, name: str, old: bool, enveloped: bool) -> None:
        self.name = name
        self._old = old
        self._enveloped = enveloped

    def task(self, state: str, **members: Any) -> dict[str, Any]:
        task = {"id": _TASK, "contextId": _CONTEXT, "status": self._status(state), **members}
        return self._sent("task", "task", task)

    def status(self, state: str, words: str) -> dict[str, Any]:
        of = {"taskId": _TASK, "contextId": _CONTEXT}
        update: dict[str, Any] = {**of, "status": self._status(state, self.message(words))}
        if self._old:
            update["final"] = False
        return self._sent("status-update", "statusUpdate", update)

    def artifact(self, words: str) -> dict[str, Any]:
        whole = {"artifactId": "a-1", "name": "report", "parts": [self._text(words)]}
        of = {"taskId": _TASK, "contextId": _CONTEXT}
        update = {**of, "artifact": whole, "append": True, "lastChunk": False}
        return self._sent("artifact-update", "artifactUpdate", update)

    def message(self, words: str, *more: dict[str, Any]) -> dict[str, Any]:
        of = {"messageId": "q1", "taskId": _TASK, "contextId": _CONTEXT}
        role = "agent" if self._old else "ROLE_AGENT"
        said = {**of, "role": role, "parts": [self._text(words), *more]}
        return {"kind": "message", **said} if self._old else said

    def asks(self) -> dict[str, Any]:
        form = {"data": {"question": "Which branch?", "schema": _SCHEMA}}
        part = {"kind": "data", **form} if self._old else form
        of = {"taskId": _TASK, "contextId": _CONTEXT}
        message = self.message(prose(120), part)
        update = {**of, "status": self._status("INPUT_REQUIRED", message)}
        return self._sent("status-update", "statusUpdate", update)

    def _status(self, state: str, message: Any = None) -> dict[str, Any]:
        word = state.lower().replace("_", "-") if self._old else f"TASK_STATE_{state}"
        said = {"state": word, "timestamp": _AT}
        return said if message is None else {**said, "message": message}

    def _text(self, words: str) -> dict[str, Any]:
        return {"kind": "text", "text": words} if self._old else {"text": words}

    def _sent(self, kind: str, wrapper: str, told: dict[str, Any]) -> dict[str, Any]:
        event = {"kind": kind, **told} if self._old else {wrapper: told}
        return {"jsonrpc": "2.0", "id": 1, "result": event} if self._enveloped else event


_DIALECTS: Final = (
    _Dialect("1.0", old=False, enveloped=False),
    _Dialect("0.3", old=True, enveloped=False),
    _Dialect("1.0 JSON-RPC", old=False, enveloped=True),
)


def _quiet(by: _Dialect) -> list[Sample]:
    history = [by.message(prose(150))] * 6
    whole = {"artifactId": "a-1", "name": "report", "parts": [{"text": prose(60 * _PIECES)}]}
    return [
        sample(f"{by.name} task submitted", by.task("SUBMITTED", history=history[:1])),
        *[sample(f"{by.name} status WORKING", by.status("WORKING", prose(80)))] * 3,
        *[sample(f"{by.name} artifact", by.artifact(prose(60)))] * _PIECES,
        sample(
            f"{by.name} task completed", by.task("COMPLETED", history=history, artifacts=[whole])
        ),
        sample(f"{by.name} status COMPLETED", by.status("COMPLETED", prose(80))),
    ]


QUIET: Final[tuple[Sample, ...]] = tuple(one for by in _DIALECTS for one in _quiet(by))

RARE: Final[tuple[Sample, ...]] = tuple(
    sample(f"{by.name} status that asks", by.asks()) for by in _DIALECTS
)
