"""Builders of Genkit turns and a desk that answers them, and the recorded vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bridge.core.decide import decide
from bridge.core.model import (
    Answer,
    Interrupted,
    Judged,
    Limits,
    Native,
    Operation,
    Origin,
    Question,
    Resume,
    ResumeSeen,
    SourcePolicy,
    Thread,
    WentOn,
)
from bridge.core.rules import Rules
from bridge.core.schema import SchemaCache
from bridge.protocols.genkit import Genkit
from bridge.protocols.interface import Reading, Record
from tests import vectors

AT = 1_800_000_000_000
ORIGIN = Origin("agents.turns", 3, 41, AT)
GENKIT = Genkit()
PAY_INPUT = {"to": "payee-1", "amount": 50}
PAY = {"pay": {"action": "restart"}}
DECLINED = {"pay": {"action": "restart", "refusal": {"status": "declined"}}}
GO_HOLD = "genkit-middleware/toolApproval"


def configured(tools: Mapping[str, Any] | None = None, **options: Any) -> Genkit:
    return GENKIT.configured({**options, **({} if tools is None else {"tools": tools})})


def read(
    turn: Any, genkit: Genkit = GENKIT, key: bytes | None = b"t-1", limits: Limits | None = None
) -> Reading:
    """The reading of a record given as text, bytes or a value."""
    if isinstance(turn, str):
        turn = turn.encode()
    elif not isinstance(turn, bytes | None):
        turn = json.dumps(turn, ensure_ascii=False).encode()
    return genkit.read(Record(turn, key, (), ORIGIN), "agents", limits or Limits())


def request(
    name: str = "pay", ref: str | None = "c1", interrupt: Any = True, **metadata: Any
) -> dict[str, Any]:
    """A tool request part; ref None leaves it out."""
    named = {"name": name} if ref is None else {"name": name, "ref": ref}
    held = {} if interrupt is None else {"interrupt": interrupt}
    part = {"toolRequest": {**named, "input": metadata.pop("input", PAY_INPUT)}}
    return {**part, "metadata": {**held, **metadata}}


def output(*parts: Any, reason: str = "interrupted", **members: Any) -> dict[str, Any]:
    """An agent's output whose message has these parts."""
    message = {"role": "model", "content": list(parts)}
    base = {"sessionId": "s-1", "snapshotId": "p-1", "finishReason": reason}
    return {**base, "message": message, **members}


def snapshot(*parts: Any, **members: Any) -> dict[str, Any]:
    """The same turn as a store has it."""
    messages = [
        {"role": "user", "content": [{"text": "hello"}]},
        {"role": "model", "content": list(parts)},
    ]
    return {
        "snapshotId": "p-1",
        "sessionId": "s-1",
        "status": "completed",
        "finishReason": "interrupted",
        "state": {"sessionId": "s-1", "messages": messages},
        **members,
    }


def held(tool: str = "pay", **metadata: Any) -> dict[str, Any]:
    return request(tool, interrupt={"message": f"Tool not in approved list: {tool}"}, **metadata)


def output_of(entry: dict[str, Any]) -> Any:
    return entry["toolResponse"]["output"]


def only_interrupted(reading: Reading) -> Interrupted:
    (found,) = [given for given in reading.inputs if isinstance(given, Interrupted)]
    return found


def questions(reading: Reading) -> tuple[Question, ...]:
    """What was asked; nothing where no approval comes of it."""
    found = [given for given in reading.inputs if isinstance(given, Interrupted)]
    return found[0].questions if found else ()


def moves(reading: Reading) -> list[WentOn | ResumeSeen]:
    return [given for given in reading.inputs if isinstance(given, WentOn | ResumeSeen)]


class Desk:
    """The rules over one thread: an interrupted turn, answers to it, and the command."""

    def __init__(self, turn: Any, genkit: Genkit = GENKIT, limits: Limits | None = None) -> None:
        self.thread = Thread()
        self.native: Native | None = None
        self.dead: list[str] = []
        self.rules = Rules(
            SourcePolicy(), limits or Limits(), build=GENKIT.build, schemas=SchemaCache()
        )
        self.event = only_interrupted(read(turn, genkit, limits=limits))
        self.questions = self.event.questions
        self._decide(self.event)

    def answer(self, index: int, payload: Any = None, **more: Any) -> str:
        """The verdict on an answer to one of the questions."""
        body = None if payload is None else json.dumps(payload).encode()
        return self.answer_text(index, body, **more)

    def answer_text(self, index: int, payload: bytes | None, **more: Any) -> str:
        named = {"thread": self.event.thread, "run_id": self.event.run_id}
        interrupt_id = self.questions[index].interrupt_id
        given = {"status": "resolved", "payload": payload, **named, **more}
        return self._decide(Answer(ORIGIN, interrupt_id=interrupt_id, **given))

    def cancel(self, index: int) -> str:
        return self.answer(index, status="cancelled")

    def expire(self) -> str:
        return self._decide(
            Operation(ORIGIN, "expire", thread=self.event.thread, run_id=self.event.run_id)
        )

    def feed(self, turn: Any) -> None:
        """What a later record of the same session does."""
        for given in read(turn).inputs:
            self._decide(given)

    @property
    def body(self) -> Any:
        assert self.native is not None, "no command"
        return json.loads(self.native.body)

    @property
    def resume(self) -> Any:
        return self.body["data"]["resume"]

    def _decide(self, event: Any) -> str:
        decision = decide(self.thread, event, AT, self.rules)
        self.thread = decision.thread
        verdict = ""
        for effect in decision.effects:
            if isinstance(effect, Resume):
                assert self.native is None, "two commands"
                self.native = effect.native
            elif isinstance(effect, Judged):
                verdict = effect.verdict
            elif hasattr(effect, "refusal"):
                self.dead.append(effect.refusal.reason)
        return verdict


def turns_in(recording: Any) -> Iterator[dict[str, Any]]:
    """Every output and snapshot in a recording, however deep its labels nest."""
    if isinstance(recording, dict) and ("finishReason" in recording and len(recording) > 2):
        yield recording
    elif isinstance(recording, dict | list):
        for part in recording.values() if isinstance(recording, dict) else recording:
            yield from turns_in(part)


def recorded() -> dict[str, list[dict[str, Any]]]:
    """By peer and case: the turns that an agent published, without their wrappers."""
    found: dict[str, list[dict[str, Any]]] = {}
    for told in vectors.events("genkit"):
        found.setdefault(f"{told.peer}-{told.case}", []).extend(turns_in(told.value))
    return found


def collected() -> list[dict[str, Any]]:
    """Further recordings of Python's runtime, with their `name`, where they are at hand."""
    folder = vectors.collected("genkit/py-0.12.0")
    files = [] if folder is None else sorted(folder.glob("*.json"))
    return [{"name": file.stem, "said": json.loads(file.read_bytes())} for file in files]
