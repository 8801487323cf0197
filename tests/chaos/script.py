"""A cycle as the records that are sent, in order: for the load on Kafka and for the rehearsal.

The load waits for what each step needs to have been seen; the rehearsal, which sees nothing, takes
the step's own moment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from tests.chaos.agents import AGENTS
from tests.chaos.agents.junk import bad_answer, bad_key
from tests.chaos.agents.play import Given, Moment, Play, Telling
from tests.chaos.plan import NO_TURN, OPERATIONS, Cycle, Keying

Role = Literal["input", "answers", "operations"]
Needs = Literal["nothing", "published", "closed", "closed before"]


@dataclass(frozen=True, slots=True)
class Step:
    """One record. `value` is made at the moment it is sent; `at` is in milliseconds from the
    question. What it `needs` is about the question `index` of the run, or about the run before.
    """

    kind: str
    role: Role
    key: bytes | None
    value: bytes | Telling | None
    at: int
    needs: Needs = "nothing"
    index: int = 0

    def written(self, moment: Moment) -> bytes | None:
        return self.value(moment) if callable(self.value) else self.value


def play_of(cycle: Cycle, asked_at: Moment) -> Play:
    """The cycle's run as it is asked at that moment."""
    expires = [
        None if reply.expires_in is None else asked_at + int(reply.expires_in * 1000)
        for reply in cycle.replies
    ]
    return cycle.ask.play(asked_at, expires)


def steps(cycle: Cycle, play: Play, before: Play | None, chance: Random) -> Iterator[Step]:
    """All that is sent, `before` being the play that the thread had before."""
    yield from _continued(cycle, before)
    yield from _bad(cycle, chance)
    early = [i for i, reply in enumerate(cycle.replies) if reply.manner == "early"]
    for index in early:
        yield _answer("early", cycle, play, index, -chance.randrange(30_000))
    yield from _asking(cycle, play, chance)
    yield from _turn(cycle, play, chance)
    for index in cycle.order:
        if index not in early:
            yield from _replies(cycle, play, index, chance)
    if cycle.late:
        at = chance.randrange(3_000, 20_000)
        yield _answer("late", cycle, play, 0, at, other=True, needs="closed")


def _continued(cycle: Cycle, before: Play | None) -> Iterator[Step]:
    """The agent goes on with the answers to its last question, as its own next one shows."""
    told = before.continued if before is not None else None
    if told is not None and cycle.follows == "a closed run":
        yield Step("continued", "input", cycle.thread.encode(), told, -1, "closed before")


def _bad(cycle: Cycle, chance: Random) -> Iterator[Step]:
    for _ in range(cycle.bad):
        if chance.random() < 0.3:
            key = _key(chance.choice(("thread", "none", "foreign")), cycle.thread)
            yield Step("bad answer", "answers", key, bad_answer(chance), 0)
        else:
            value = AGENTS[cycle.source.name].bad(chance, cycle.thread)
            yield Step("bad event", "input", bad_key(chance, cycle.thread), value, 0)


def _asking(cycle: Cycle, play: Play, chance: Random) -> Iterator[Step]:
    key = _key("thread" if play.by_key else cycle.keying, cycle.thread)
    if len(play.asking) > 1 and key is None:
        key = b"stream"  # without a key they would lose their order
    for value in play.asking[:-1]:
        yield Step("before event", "input", key, value, 0)
    yield Step("event", "input", key, play.asking[-1], 0)
    if cycle.repeated:
        yield Step("repeated event", "input", key, play.repeat, chance.randrange(8_000))
    if cycle.conflicting and play.conflict is not None:
        yield Step("conflicting event", "input", key, play.conflict, chance.randrange(8_000))
    if cycle.noisy and play.noise:
        noise = chance.choice(play.noise)
        yield Step("noise", "input", cycle.thread.encode(), noise, chance.randrange(8_000))


def _turn(cycle: Cycle, play: Play, chance: Random) -> Iterator[Step]:
    at = chance.randrange(1, 5_000)
    if cycle.turn in OPERATIONS:
        approval_id = cycle.source.id_of(
            "approval", cycle.thread, play.run, play.questions[0].interrupt_id
        )
        body = {"op": cycle.turn, "approval_id": approval_id, "reason": "load", "by": "load"}
        key = _key(cycle.keying, cycle.thread)
        yield Step(cycle.turn, "operations", key, json.dumps(body).encode(), at, "published")
    elif cycle.turn != NO_TURN:
        key = cycle.thread.encode()
        yield Step(cycle.turn, "input", key, play.turns[cycle.turn], at, "published")


def _replies(cycle: Cycle, play: Play, index: int, chance: Random) -> Iterator[Step]:
    manner = cycle.replies[index].manner
    at, later = chance.randrange(10, 7_000), chance.randrange(9_000)
    if manner == "invalid_first" and play.questions[index].invalid is not None:
        yield _answer("invalid", cycle, play, index, at - 5)
    if manner == "cancelled":
        yield _answer("cancelled", cycle, play, index, at)
    elif manner != "never":
        yield _answer("answer", cycle, play, index, at)
    if manner == "twice":
        yield _answer("repeated answer", cycle, play, index, at + later)
    if manner == "contradicted":
        yield _answer("contradicting", cycle, play, index, at + later, other=True)


def _answer(
    kind: str,
    cycle: Cycle,
    play: Play,
    index: int,
    at: int,
    *,
    other: bool = False,
    needs: Needs | None = None,
) -> Step:
    reply, question = cycle.replies[index], play.questions[index]
    given = question.valid[1 - reply.choice if other else reply.choice]
    if kind == "invalid" and question.invalid is not None:
        given = question.invalid
    body = _named(cycle, play, index) | {"answered_by": "load", "comment": kind}
    value = answer_body(body, None if kind == "cancelled" else given)
    needs = needs or ("nothing" if kind == "early" else "published")
    return Step(kind, "answers", _key(reply.keying, cycle.thread), value, at, needs, index)


def _named(cycle: Cycle, play: Play, index: int) -> dict[str, Any]:
    """The question's name, one way or the other."""
    source, interrupt = cycle.source, play.questions[index].interrupt_id
    if cycle.replies[index].by_id:
        return {"approval_id": source.id_of("approval", cycle.thread, play.run, interrupt)}
    named = {"source": source.name, "thread_id": cycle.thread, "run_id": play.run}
    return named | {"interrupt_id": interrupt} | ({"scope": source.scope} if source.scope else {})


def answer_body(named: Mapping[str, Any], given: Given | None) -> bytes:
    """The answer's record; None cancels. The payload is put in as its text stands."""
    if given is None:
        return json.dumps({**named, "status": "cancelled"}).encode()
    text = json.dumps({**named, "status": "resolved", **given.members}, ensure_ascii=False)
    return f'{text[:-1]}, "payload": {given.payload}}}'.encode()


def _key(keying: Keying, thread: str) -> bytes | None:
    return {"thread": thread.encode(), "none": None, "foreign": b"not-" + thread.encode()}[keying]
