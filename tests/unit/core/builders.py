"""Short words for the core's values, so that a test shows only what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from bridge.core import json_text
from bridge.core.decide import decide
from bridge.core.ids import RunKey
from bridge.core.model import (
    Answer,
    ApprovalId,
    Decision,
    Effect,
    Entry,
    Input,
    Interrupted,
    JsonText,
    Judged,
    Limits,
    Millis,
    Native,
    Order,
    Origin,
    Publish,
    Question,
    Resume,
    Run,
    RunPolicy,
    SourcePolicy,
    Thread,
    ThreadKey,
)
from bridge.core.rules import Rules
from bridge.core.schema import SchemaCache

NOW: Millis = 1_800_000_000_000
HOUR: Millis = 3_600_000
DAY: Millis = 24 * HOUR
THREAD = ThreadKey("support", "", "thread-1")
APPROVED = b'{"approved":true}'
NEEDS_APPROVED = (
    b'{"type":"object","properties":{"approved":{"type":"boolean"}},"required":["approved"]}'
)


def build(_: Run, entries: Sequence[Entry], carry: JsonText | None) -> Native:
    """A body like a protocol's: entries in order, context if there is any."""
    payloads = [e.payload or b"null" for e in entries if e.answered_at is not None]
    body = b"[" + b",".join([*payloads, *([carry] if carry is not None else [])]) + b"]"
    return Native("resume", body, notes=() if carry is not None else ("continuity_omitted",))


def rules(policy: SourcePolicy | None = None, limits: Limits | None = None, **others: Any) -> Rules:
    given = {"build": build, "schemas": SchemaCache(), **others}
    return Rules(policy or SourcePolicy(), limits or Limits(), **given)


def run_policy(**settings: Any) -> SourcePolicy:
    """A source's policy with settings of the run."""
    return SourcePolicy(run=RunPolicy(**settings))


def question(name: str = "q1", **settings: Any) -> Question:
    return Question(name, **settings)


def event(*questions: Question | str, run: str = "run-1", at: Millis = NOW, **more: Any) -> Any:
    """An interrupted run; its digest follows from its questions as a reader's would."""
    asked = tuple(q if isinstance(q, Question) else question(q) for q in questions or ("q1",))
    given = Interrupted(
        thread=more.pop("thread", THREAD),
        run_id=run,
        protocol="any",
        questions=asked,
        digest=json_text.digest([repr(q) for q in asked]),
        order=Order(at, more.pop("generation", 0)),
        origin=Origin("events", 0, 7, at),
    )
    return replace(given, **more)


def answer(name: str = "q1", at: Millis = NOW, offset: int = 1, **settings: Any) -> Answer:
    """A resolved answer to a question of run-1, with a payload that says yes."""
    status = settings.pop("status", "resolved")
    given = {
        "thread": THREAD,
        "run_id": "run-1",
        "interrupt_id": name,
        "payload": APPROVED if status == "resolved" else None,
        **settings,
    }
    return Answer(Origin("answers", 0, offset, at), status, **given)


def approval_of(name: str = "q1", run: str = "run-1") -> ApprovalId:
    return RunKey.of(ThreadKey("support", "", "thread-1"), run).approval_id(name)


def opened(*questions: Question | str, **settings: Any) -> Thread:
    """A thread with one open run."""
    policy = settings.pop("rules", None) or rules()
    return decide(Thread(), event(*questions, **settings), NOW, policy).thread


def told(
    thread: Thread, inputs: Iterable[Input], now: Millis = NOW, given: Rules | None = None
) -> Decision:
    """Several inputs one after the other; the effects of all."""
    effects: tuple[Effect, ...] = ()
    for one in inputs:
        decision = decide(thread, one, now, given or rules())
        thread, effects = decision.thread, effects + decision.effects
    return Decision(thread, effects)


def verdicts(decision: Decision) -> list[str]:
    return [effect.verdict for effect in decision.effects if isinstance(effect, Judged)]


def published(decision: Decision) -> list[tuple[str, str, int]]:
    """(interrupt id, status, revision) of each approval, in order."""
    items = [e.run.items[e.index] for e in decision.effects if isinstance(e, Publish)]
    return [(item.question.interrupt_id, item.status, item.revision) for item in items]


def resumes(decision: Decision) -> list[Resume]:
    return [effect for effect in decision.effects if isinstance(effect, Resume)]


def letters(decision: Decision) -> list[str]:
    """Reasons of dead letters."""
    return [e.refusal.reason for e in decision.effects if hasattr(e, "refusal")]
