"""Genkit agents: turns that end with interrupted tool requests, as outputs and as snapshots."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate
from random import Random
from typing import Any, Final

from tests.chaos.agents import junk
from tests.chaos.agents.genkit_tools import SETTINGS, TOOLS, Body, Call, Runtime, alike
from tests.chaos.agents.instants import rfc3339
from tests.chaos.agents.play import Follows, Moment, Play, Question, packed
from tests.chaos.agents.source import Source

SOURCE: Final = Source(
    "bank",
    "genkit",
    scope="bank",
    default_ttl=8_000,
    options={"agent": "bank", "runtime": "go", "tools": SETTINGS},
)
SHAPES = ("output", "output", "snapshot", "bare snapshot", "result", "client")
NAMELESS = ("js", "py")  # runtimes whose requests may have no ref


@dataclass(frozen=True, slots=True)
class GenkitAsk:
    session: str
    run: str
    runtime: Runtime
    shape: str
    calls: tuple[Call, ...]
    settled: Body | None  # a request of the same turn that ran already
    parent: str
    is_answerable: bool = True

    @property
    def count(self) -> int:
        return len(self.calls)

    @property
    def waits(self) -> tuple[bool, ...]:
        """Without a refusal the source's `default_ttl` does not count."""
        return tuple(not call.has_refusal for call in self.calls)

    def play(self, asked_at: Moment, expires: Sequence[Moment | None]) -> Play:
        client = self.shape == "client"
        return Play(
            run=self._turn_id(),
            questions=tuple(map(self._question, self.calls, self._indices())),
            asking=(self._turn(self.shape, asked_at),),
            repeat=self._turn("client" if client else "snapshot", asked_at),
            conflict=self._turn(self.shape, asked_at, amount=9),
            noise=self._noise(),
            turns={"went on": self._went_on},
            continued=self._went_on,
        )

    def _question(self, call: Call, index: int) -> Question:
        named = [SOURCE.scope, self.session, self._turn_id(), index, call.tool, call.ref]
        text = json.dumps(named, ensure_ascii=False, separators=(",", ":")).encode()
        return Question(sha256(text).digest()[:16].hex(), call.valid, call.invalid)

    def _indices(self) -> Sequence[int]:
        """Where the calls stand among the parts; a text comes first, and what is settled."""
        copies = [1 if self.settled is None else 2, *(call.copies for call in self.calls)]
        return list(accumulate(copies))[:-1]

    def _turn_id(self) -> str:
        """The snapshot; where the client keeps the state, a digest of its messages."""
        if self.shape != "client":
            return self.run
        text = json.dumps(
            self._messages(), ensure_ascii=False, separators=(",", ":"), sort_keys=True
        )
        return sha256(text.encode()).digest()[:16].hex()

    def _message(self, **changed: Any) -> Body:
        settled = [] if self.settled is None else [self.settled]
        parts = [call.part(**changed) for call in self.calls for _ in range(call.copies)]
        return {"role": "model", "content": [{"text": "One moment."}, *settled, *parts]}

    def _messages(self) -> list[Body]:
        """No number in them, so that their canonical text is plain."""
        return [{"role": "user", "content": [{"text": f"Please do {self.run}."}]}]

    def _turn(self, shape: str, at: Moment, **changed: Any) -> bytes:
        match shape:
            case "client":
                return packed(self._wrapped("client", output=self._output(**changed)))
            case "output":
                return packed(self._wrapped("server", output=self._output(**changed)))
            case "result":
                return packed({"runtime": self.runtime, "result": self._output(**changed)})
            case "snapshot":
                return packed(self._wrapped("server", snapshot=self._snapshot(at, **changed)))
            case _:
                return packed(self._snapshot(at, **changed) | {"runtime": self.runtime})

    def _wrapped(self, management: str, **turn: Body) -> Body:
        about = {"protocol": "genkit", "agent": SOURCE.scope, "runtime": self.runtime}
        return {**about, "stateManagement": management, **turn}

    def _output(self, **changed: Any) -> Body:
        output: Body = {"sessionId": self.session, "finishReason": "interrupted"}
        if self.shape == "client":
            state = {"sessionId": self.session, "messages": self._messages(), "custom": {"n": 5e1}}
            return {**output, "message": self._message(**changed), "state": state}
        return {**output, "snapshotId": self.run, "message": self._message(**changed)}

    def _snapshot(self, at: Moment, **changed: Any) -> Body:
        messages = [*self._messages(), self._message(**changed)]
        return {
            "snapshotId": self.run,
            "sessionId": self.session,
            "parentId": self.parent,
            "createdAt": rfc3339(at),
            "status": "completed",
            "finishReason": "interrupted",
            "state": {"sessionId": self.session, "messages": messages, "artifacts": []},
        }

    def _noise(self) -> tuple[bytes, ...]:
        """A failed resume still shows the parts; chunks and pending rows say nothing."""
        error = {"status": "INVALID_ARGUMENT", "message": "Unresolved tool request"}
        failed = {**self._output(), "finishReason": "failed", "error": error}
        pending = {"sessionId": self.session, "snapshotId": "later", "finishReason": "detached"}
        return (
            packed(self._wrapped("server", output=failed)),
            packed({"turnEnd": {"snapshotId": self.run, "finishReason": "interrupted"}}),
            packed(pending),
        )

    def _went_on(self, at: Moment) -> bytes:
        """The next turn of the session came to its end."""
        said = {"role": "model", "content": [{"text": "Done."}]}
        snapshot = {
            "snapshotId": f"{self.run}-next",
            "sessionId": self.session,
            "parentId": self.run,
            "createdAt": rfc3339(at),
            "status": "completed",
            "finishReason": "stop",
            "state": {"sessionId": self.session, "messages": [*self._messages(), said]},
        }
        return packed(self._wrapped("server", snapshot=snapshot))


class Genkit:
    source: Source = SOURCE
    turns: Mapping[str, int] = {"went on": 2}
    ends: frozenset[str] = frozenset()

    def draw(self, chance: Random, thread: str, run: str, follows: Follows) -> GenkitAsk:
        runtime: Runtime = chance.choice(("go", "js", "py"))
        shape = chance.choice(SHAPES)
        parent = "" if follows == "nothing" else f"before-{run}"
        calls = _drawn_calls(chance, run, runtime)
        settled = _settled(chance, runtime) if chance.random() < 0.3 else None
        return GenkitAsk(thread, run, runtime, shape, calls, settled, parent)

    def bad(self, chance: Random, thread: str) -> bytes | None:
        return chance.choice((*junk.ANY, *_bad(thread)))


GENKIT: Final = Genkit()


def _drawn_calls(chance: Random, run: str, runtime: Runtime) -> tuple[Call, ...]:
    """Several calls have refs of their own; the only one may have none, or be there twice."""
    count = chance.choice((1, 1, 1, 2, 3))
    if runtime in NAMELESS and chance.random() < 0.1:
        return (alike(),)
    refs: list[str | None] = [f"call-{run}-{number}" for number in range(count)]
    if count == 1 and runtime in NAMELESS and chance.random() < 0.5:
        refs = [None]
    return tuple(chance.choice(TOOLS)(chance, ref, runtime) for ref in refs)


def _settled(chance: Random, runtime: Runtime) -> Body:
    """A sibling that ran: JavaScript takes a falsy output for none, so it is sent along there."""
    output = chance.choice(({"balance": 10.50}, 0, "", None))
    request = {"name": "balance", "ref": "settled", "input": {}}
    return {"toolRequest": request, "metadata": {"pendingOutput": output}}


def _bad(session: str) -> list[bytes]:
    part = {"toolRequest": {"name": "f", "ref": "c", "input": {}}, "metadata": {"interrupt": True}}
    asks = {"sessionId": session, "snapshotId": "bad", "finishReason": "interrupted"}
    model = {"role": "model", "content": [part]}
    whole = {**asks, "message": model}
    nameless = {"role": "model", "content": [{**part, "toolRequest": {"ref": "c"}}]}
    open_call = {"role": "model", "content": [part, {"toolRequest": {"name": "g", "input": {}}}]}
    return [
        *(_with_input(whole, x) for x in junk.UNFIT),
        packed({**asks, "message": {"role": "model", "content": [{"text": "hello"}]}}),
        packed({**whole, "finishReason": "Interrupted"}),
        packed({**whole, "status": "paused"}),
        packed({**whole, "snapshotId": 7}),
        packed({"protocol": "genkit", "agent": "bank"}),
        packed({"protocol": "other", "output": whole}),
        packed({"protocol": "genkit", "stateManagement": "cloud", "output": whole}),
        packed({**asks, "message": nameless}),
        packed({**asks, "runtime": "go", "message": open_call}),
    ]


def _with_input(turn: Body, text: str) -> bytes:
    content = [{"toolRequest": {"name": "f", "input": "?"}, "metadata": {"interrupt": True}}]
    value = packed({**turn, "message": {"role": "model", "content": content}})
    return value.replace(b'"?"', text.encode())
