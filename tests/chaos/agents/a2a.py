"""A2A agents: tasks that stop for input or for an authorization, and go on in many ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from tests.chaos.agents import a2a_items as items
from tests.chaos.agents import junk
from tests.chaos.agents.a2a_dialects import DIALECTS, Body, Said, artifact, hybrid, written
from tests.chaos.agents.a2a_items import Item
from tests.chaos.agents.instants import rfc3339
from tests.chaos.agents.play import Follows, Moment, Play, Question, Telling, packed
from tests.chaos.agents.source import Source

SOURCE: Final = Source(
    "reviewers",
    "a2a",
    scope="reviewer",
    default_ttl=8_000,
    options={"agent": "reviewer", "endpoint": "https://agents.example.com/review"},
)
Kind = str
KINDS: Mapping[Kind, int] = {
    "text": 3,
    "adk": 3,
    "kagent": 2,
    "strands": 3,
    "langgraph": 4,
    "approval": 1,
    "bare": 1,
    "authorization": 2,
}
WITH_ITEMS = ("adk", "strands", "langgraph", "kagent")
STATES: Mapping[str, str] = {
    "working": "WORKING",
    "completed": "COMPLETED",
    "failed": "FAILED",
    "canceled": "CANCELED",
    "rejected": "REJECTED",
}


@dataclass(frozen=True, slots=True)
class A2aAsk:
    task: str
    run: str
    kind: Kind
    items: tuple[Item, ...]
    dialect: str
    other: str  # the dialect of whatever else is said
    between: bool  # a WORKING, with an instant from before, comes right before the question

    @property
    def count(self) -> int:
        return len(self.items) or 1

    @property
    def waits(self) -> tuple[bool, ...]:
        return (not self.is_answerable,) * self.count  # the source has a `default_ttl`

    @property
    def is_answerable(self) -> bool:
        return self.kind != "authorization"

    def play(self, asked_at: Moment, expires: Sequence[Moment | None]) -> Play:
        said = self._said(asked_at, expires)
        before = self._tells("WORKING")(asked_at - 1)
        status = hybrid(said) if self.kind == "langgraph" else written(said, self.dialect)
        asking = (before, status) if self.between else (status,)
        if self.kind == "langgraph":
            asking = (artifact(said, "Interrupt", *(item.data for item in self.items)), *asking)
        return Play(
            run=_run_of(said),
            questions=self._questions(_run_of(said)),
            asking=asking,
            repeat=status if self.kind == "langgraph" else written(said, self.other),
            conflict=self._conflict(said),
            noise=(
                artifact(said, "draft", {"text": "…"}),
                self._tells("WORKING")(asked_at - 5_000),
                self._tells("WORKING")(asked_at),  # by another way, within the same millisecond
                self._tells("SUBMITTED")(asked_at + 1),
            ),
            turns={
                **{turn: self._tells(state) for turn, state in STATES.items()},
                "refused": lambda _: _REFUSED,
            },
            continued=self._tells("WORKING"),
        )

    def _said(self, asked_at: Moment, expires: Sequence[Moment | None]) -> Said:
        state = "INPUT_REQUIRED" if self.is_answerable else "AUTH_REQUIRED"
        has_message = self.kind not in ("bare", "langgraph")
        return Said(
            self.task,
            state,
            asked_at,
            f"question-{self.run}" if has_message else None,
            self._parts(expires),
            self._metadata(),
        )

    def _metadata(self) -> Body | None:
        match self.kind:
            case "approval":
                return items.approval_metadata()
            case "kagent":
                return items.kagent_metadata(self.items)
            case _:
                return None

    def _parts(self, expires: Sequence[Moment | None]) -> tuple[Body, ...]:
        match self.kind:
            case "text" | "kagent":
                return ({"text": f"Which branch for {self.run}?"},)
            case "authorization":
                return ({"text": f"Sign in at https://auth.example.com/device?user={self.run}."},)
            case "adk":
                return ({"text": "Please confirm."}, *map(items.adk_part, self.items))
            case "strands":
                return (items.strands_part(self._expiring(expires)),)
            case _:
                return ()

    def _expiring(self, expires: Sequence[Moment | None]) -> tuple[Item, ...]:
        """Strands' interrupts are the only items that may bring a deadline."""
        return tuple(
            item if at is None else item._replace(data=item.data | {"expiresAt": rfc3339(at)})
            for item, at in zip(self.items, expires, strict=True)
        )

    def _questions(self, run: str) -> tuple[Question, ...]:
        if self.items:
            return tuple(item.question for item in self.items)
        return (items.approval(run) if self.kind == "approval" else items.plain(run),)

    def _conflict(self, said: Said) -> bytes | None:
        """Other words under the same message id; a status without one has no words."""
        if said.message_id is None:
            return None
        parts = ({"text": "Something else?"}, *said.parts)
        return written(Said(self.task, said.state, said.at, said.message_id, parts), self.dialect)

    def _tells(self, state: str) -> Telling:
        dialect = self.other if self.other != "1.0 number" else "1.0 update"
        return lambda at: written(Said(self.task, state, at), dialect)


class A2a:
    source: Source = SOURCE
    turns: Mapping[str, int] = {"working": 2, "refused": 1} | dict.fromkeys(list(STATES)[1:], 1)
    ends: frozenset[str] = frozenset(turns) - {"working"}

    def draw(self, chance: Random, thread: str, run: str, follows: Follows) -> A2aAsk:
        kind = _drawn_kind(chance, follows)
        count = chance.choice((1, 1, 2, 3)) if kind in WITH_ITEMS else 0
        draw = getattr(items, kind) if count else None
        return A2aAsk(
            thread,
            run,
            kind,
            tuple(draw(chance, run, number) for number in range(count)) if draw else (),
            chance.choice(list(DIALECTS)),
            chance.choice(list(DIALECTS)),
            chance.random() < 0.3,
        )

    def bad(self, chance: Random, thread: str) -> bytes | None:
        return chance.choice((*junk.ANY, *_bad(thread)))


A2A: Final = A2a()


def _drawn_kind(chance: Random, follows: Follows) -> Kind:
    """A question without items that follows an open one with items would be taken for that."""
    kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
    return kind if follows != "an open run" or kind in WITH_ITEMS else chance.choice(WITH_ITEMS)


def _run_of(said: Said) -> str:
    """The id of the message that asks; without one, the instant of the status."""
    if said.message_id is not None:
        return said.message_id
    digits = rfc3339(said.at)[:-1].rstrip("0").rstrip(".")
    return f"at:{digits}Z"


_REFUSED = packed(
    {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {"code": -32004, "message": "A terminal task cannot accept another message"},
    }
)


def _bad(task: str) -> list[bytes]:
    asks = {"state": "TASK_STATE_INPUT_REQUIRED"}
    update = {"taskId": task, "status": asks}
    call = {"data": {"name": "f", "args": {}}, "metadata": {"adk_type": "function_call"}}
    call["metadata"]["adk_is_long_running"] = True  # type: ignore[index]  # it is a dict
    twice = [{"interruptId": "same", "reason": reason} for reason in ("one", "two")]
    return [
        *(_with_data(task, x) for x in junk.UNFIT),
        packed({"statusUpdate": update, "task": {"id": task, "status": asks}}),
        packed({"statusUpdate": {"taskId": task, "status": {"state": "TASK_STATE_ODD"}}}),
        packed({"statusUpdate": {"taskId": task, "status": {}}}),
        packed({"statusUpdate": {"taskId": "", "status": asks}}),
        packed({"statusUpdate": {"taskId": task, "status": {"state": "UNRECOGNIZED"}}}),
        packed({"kind": "status-update", "taskId": task, "status": "input-required"}),
        packed({"result": {"statusUpdate": update}, "error": {"code": -32001}}),
        _with_parts(task, call),
        _with_parts(task, {"data": {"interrupts": twice}}),
    ]


def _with_parts(task: str, *parts: Body) -> bytes:
    return written(Said(task, "INPUT_REQUIRED", 0, "bad", parts), "1.0 update")


def _with_data(task: str, text: str) -> bytes:
    return _with_parts(task, {"data": "?"}).replace(b'"?"', text.encode())
