"""AG-UI agents that share their threads with others, and ask with the outcome or in the older way.

Each event says whose it is; records of another desk, or of nobody, lie between theirs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final, Literal

from tests.chaos.agents import junk
from tests.chaos.agents.ag_ui_shapes import SHAPES, Interrupt, crewai, langgraph, mastra
from tests.chaos.agents.instants import rfc3339
from tests.chaos.agents.play import Follows, Given, Moment, Play, Question, packed
from tests.chaos.agents.source import Source

SOURCE: Final = Source(
    "desks",
    "ag-ui",
    scope="billing",
    options={"agent_pointer": "/metadata/agentId", "legacy_refusal": {"approved": False}},
)
_OTHER: Final = "triage"
Way = Literal["outcome", "langgraph", "text", "crewai", "mastra", "both"]
_WAYS: Final[tuple[Way, ...]] = ("outcome", "langgraph", "text", "crewai", "mastra", "both")
_SHAPE_OF: Final[Mapping[Way, Callable[..., Interrupt]]] = {
    "langgraph": langgraph,
    "crewai": crewai,
    "mastra": mastra,
    "both": mastra,
}


@dataclass(frozen=True, slots=True)
class DeskAsk:
    thread: str
    run: str
    way: Way
    interrupts: tuple[Interrupt, ...]
    is_answerable: bool = True

    @property
    def count(self) -> int:
        return len(self.interrupts)

    @property
    def waits(self) -> tuple[bool, ...]:
        """A text, and Mastra's own event, have no place for a deadline."""
        return (self.way in {"text", "mastra"},) * self.count

    def play(self, asked_at: Moment, expires: Sequence[Moment | None]) -> Play:
        bodies = [
            each.body | ({} if at is None else {"expiresAt": rfc3339(at)})
            for each, at in zip(self.interrupts, expires, strict=True)
        ]
        outcome: dict[str, Any] = {"outcome": {"type": "interrupt", "interrupts": bodies}}
        told = [] if self.way == "outcome" else [self._told(body) for body in bodies]
        end = self._said("RUN_FINISHED", **(outcome if self.way in {"outcome", "both"} else {}))
        return Play(
            run=self.run,
            questions=tuple(self._question(n, each) for n, each in enumerate(self.interrupts)),
            asking=(self._said("RUN_STARTED"), *told, end),
            repeat=end,
            noise=tuple(self._noise()),
            turns={
                "resumed elsewhere": lambda _: self._resumed("billing"),
                "run error": lambda _: self._said("RUN_ERROR", message="no connection"),
            },
            continued=lambda _: self._said("RUN_STARTED", runId=self._resume_run()),
            by_key=True,
        )

    def _resume_run(self) -> str:
        return SOURCE.id_of("resume-run", self.thread, self.run)

    def _told(self, body: Mapping[str, Any]) -> bytes:
        """One `on_interrupt` as the framework writes it; it names neither thread nor run."""
        value: Any = body
        more: dict[str, Any] = {}
        if self.way == "langgraph":
            asked = {name: each for name, each in body.items() if name not in {"id", "metadata"}}
            value = json.dumps(asked)
            more = {"rawEvent": {"value": asked, "id": body["id"], "response_schema": None}}
        elif self.way == "text":
            value = body["message"]
        elif self.way in {"mastra", "both"}:
            inside = body["metadata"]["mastra"]
            names = {"toolCallId": body["toolCallId"], "runId": self.run}
            value = json.dumps({"type": "mastra_suspend", **names, **inside})
        return self._said("CUSTOM", "billing", name="on_interrupt", value=value, **more)

    def _noise(self) -> list[bytes]:
        """Of another desk of the thread, or of one that does not say which: changes nothing."""
        failed = {"type": "RUN_ERROR", "message": "no connection"}
        return [
            self._resumed(_OTHER),
            self._resumed(None),
            packed(failed),
            self._said("RUN_FINISHED", _OTHER, runId=f"{self.run}-{_OTHER}"),
            self._said("RUN_ERROR", _OTHER, message="no connection"),
        ]

    def _resumed(self, agent: str | None) -> bytes:
        ids = [self._interrupt_id(n, each) for n, each in enumerate(self.interrupts)]
        entries = [{"interruptId": each, "status": "cancelled"} for each in ids]
        run = f"{self.run}-elsewhere-{agent}"
        given = {"threadId": self.thread, "runId": run, "messages": [], "resume": entries}
        return self._said("RUN_STARTED", agent, runId=run, input=given)

    def _said(self, kind: str, agent: str | None = "billing", **members: Any) -> bytes:
        named = kind in {"RUN_STARTED", "RUN_FINISHED"}
        names = {"threadId": self.thread, "runId": self.run} if named else {}
        said = {} if agent is None else {"metadata": {"agentId": agent}}
        return packed({"type": kind, **names, **members, **said})

    def _interrupt_id(self, number: int, each: Interrupt) -> str:
        return f"legacy-{number}" if self.way == "text" else str(each.body["id"])

    def _question(self, number: int, each: Interrupt) -> Question:
        first, second = each.valid
        is_checked = each.invalid is not None and self.way != "text"
        invalid = Given(each.invalid) if is_checked and each.invalid is not None else None
        given = (Given(first), Given(second))
        return Question(self._interrupt_id(number, each), given, invalid)


class Desks:
    source: Source = SOURCE
    turns: Mapping[str, int] = {"resumed elsewhere": 1, "run error": 1}
    ends: frozenset[str] = frozenset()

    def draw(self, chance: Random, thread: str, run: str, follows: Follows) -> DeskAsk:
        way = chance.choice(_WAYS)
        shape = _SHAPE_OF.get(way) or chance.choice(SHAPES)
        count = chance.choice((1, 1, 2, 3))
        drawn = (shape(chance, thread, run, number) for number in range(count))
        interrupts = tuple(_with_texts(each) if way == "langgraph" else each for each in drawn)
        if way == "text":
            interrupts = tuple(each for each in interrupts if "message" in each.body)
        if not interrupts:
            interrupts = (langgraph(chance, thread, run, 0),)
        return DeskAsk(thread, run, way, interrupts)

    def bad(self, chance: Random, thread: str) -> bytes | None:
        return chance.choice((*junk.ANY, *_bad()))


DESKS: Final = Desks()


def _with_texts(each: Interrupt) -> Interrupt:
    """Answers that are texts, one of which LangGraph's adapters would read as a number."""
    return each._replace(valid=('"42"', each.valid[1]))


def _bad() -> list[bytes]:
    whole = packed({"type": "CUSTOM", "name": "on_interrupt", "value": "?"})
    values = [whole.replace(b'"?"', b'{"x":%s}' % unfit.encode()) for unfit in junk.UNFIT]
    return [*values, packed({"type": "CUSTOM", "name": "on_interrupt", "threadId": 7})]
