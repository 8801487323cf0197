"""AG-UI agents: runs that finish with interrupts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from tests.chaos.agents import junk
from tests.chaos.agents.ag_ui_shapes import SHAPES, Interrupt
from tests.chaos.agents.instants import rfc3339
from tests.chaos.agents.play import Follows, Given, Moment, Play, Question, packed
from tests.chaos.agents.source import Source

SOURCE: Final = Source("agents", "ag-ui")


@dataclass(frozen=True, slots=True)
class AgUiAsk:
    thread: str
    run: str
    interrupts: tuple[Interrupt, ...]
    is_answerable: bool = True

    @property
    def count(self) -> int:
        return len(self.interrupts)

    @property
    def waits(self) -> tuple[bool, ...]:
        return (False,) * self.count  # each of them can have a deadline of its own

    def play(self, asked_at: Moment, expires: Sequence[Moment | None]) -> Play:
        event = self._finished(expires)
        return Play(
            run=self.run,
            questions=tuple(_question(each) for each in self.interrupts),
            asking=(event,),
            repeat=event,
            conflict=event.replace(b'"reason": "', b'"reason": "other-', 1),
            turns={
                "resumed elsewhere": lambda _: self._resumed_elsewhere(),
                "run error": lambda _: packed({"type": "RUN_ERROR", "message": "no connection"}),
            },
            continued=lambda _: self._started(SOURCE.id_of("resume-run", self.thread, self.run)),
        )

    def _finished(self, expires: Sequence[Moment | None]) -> bytes:
        interrupts = [
            each.body | ({} if at is None else {"expiresAt": rfc3339(at)})
            for each, at in zip(self.interrupts, expires, strict=True)
        ]
        event = {
            "type": "RUN_FINISHED",
            "threadId": self.thread,
            "runId": self.run,
            "outcome": {"type": "interrupt", "interrupts": interrupts},
            "usage": [{"provider": "example", "inputTokens": 812, "outputTokens": 64}],
        }
        return packed(event)

    def _resumed_elsewhere(self) -> bytes:
        """A run that somebody else started to answer all of this one."""
        ids = [each.body["id"] for each in self.interrupts]
        entries = [{"interruptId": each, "status": "cancelled"} for each in ids]
        run = f"{self.thread}-elsewhere"
        given = {"threadId": self.thread, "runId": run, "messages": [], "resume": entries}
        return self._started(run, input=given)

    def _started(self, run: str, **members: Any) -> bytes:
        return packed({"type": "RUN_STARTED", "threadId": self.thread, "runId": run} | members)


class AgUi:
    source: Source = SOURCE
    turns: Mapping[str, int] = {"resumed elsewhere": 1, "run error": 1}
    ends: frozenset[str] = frozenset()

    def draw(self, chance: Random, thread: str, run: str, follows: Follows) -> AgUiAsk:
        shape = chance.choice(SHAPES)
        count = chance.choice((1, 1, 1, 2, 2, 3, 4))
        interrupts = tuple(shape(chance, thread, run, number) for number in range(count))
        return AgUiAsk(thread, run, interrupts)

    def bad(self, chance: Random, thread: str) -> bytes | None:
        return chance.choice((*junk.ANY, *_bad(thread)))


AG_UI: Final = AgUi()


def _question(each: Interrupt) -> Question:
    first, second = each.valid
    invalid = None if each.invalid is None else Given(each.invalid)
    return Question(each.body["id"], (Given(first), Given(second)), invalid)


def _bad(thread: str) -> list[bytes]:
    return [
        *(
            _asking(thread, f'[{{"id":"a","reason":"r","metadata":{{"x":{x}}}}}]')
            for x in junk.UNFIT
        ),
        _asking(thread, "[]"),
        _asking(thread, '[{"id":7,"reason":"r"}]'),
        _ended(thread, {"type": "paused"}),
        _ended(thread, {"type": "success", "interrupts": [{"id": "a", "reason": "r"}]}),
        b'{"type":"RunFinished","threadId":"t","runId":"r"}',
    ]


def _ended(thread: str, outcome: dict[str, Any]) -> bytes:
    end = {"type": "RUN_FINISHED", "threadId": thread, "runId": "bad", "outcome": outcome}
    return packed(end)


def _asking(thread: str, interrupts: str) -> bytes:
    whole = _ended(thread, {"type": "interrupt", "interrupts": "?"})
    return whole.replace(b'"?"', interrupts.encode())
