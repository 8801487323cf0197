"""The five cases, played with a program and a bridge: who asks, who answers, who goes on.

A case ends early with Trouble, which says what was expected and what came instead.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar

from tests.peers.observed import Members, Observed, run_of
from tests.peers.peer import (
    ALL_CANCELLED,
    ANSWERED,
    ASKS_AGAIN,
    ONE_EXPIRED,
    WRONG_THEN_RIGHT,
    Peer,
)
from tests.peers.played import Played, Turn
from tests.peers.program import Trouble
from tests.peers.record.tape import Agent

CASE_SECONDS = 150.0
EXPIRES_IN = 5.0  # room for the first answer on a busy machine

T = TypeVar("T")


class Bridge(Protocol):
    """What a case needs of a bridge, real or in memory."""

    @property
    def observed(self) -> Observed: ...

    async def publish(self, peer: Peer, records: Sequence[Mapping[str, Any]]) -> list[str]: ...

    async def answer(self, members: Mapping[str, Any]) -> None: ...

    async def operate(self, members: Mapping[str, Any]) -> None: ...

    async def until(self, holds: Callable[[Observed], T | None], what: str) -> T: ...


async def play(peer: Peer, case: str, program: Agent, bridge: Bridge) -> Played:
    """Play one case to its end, or to what does not come."""
    played, started = Played(case), time.monotonic()
    try:
        async with asyncio.timeout(CASE_SECONDS):
            await SCRIPTS[case](_Scene(peer, program, bridge, played))
    except Trouble as trouble:
        played.trouble = str(trouble)
    except TimeoutError:
        played.trouble = f"the case was not over after {CASE_SECONDS:.0f} s"
    played.seconds = time.monotonic() - started
    return played


class _Scene:
    """The steps that cases are made of."""

    def __init__(self, peer: Peer, program: Agent, bridge: Bridge, played: Played) -> None:
        self.peer = peer
        self._program = program
        self._bridge = bridge
        self._played = played
        self._known = set(bridge.observed.approvals)
        self._sent = 0

    async def ask(self, case: str, expires_in: float | None = None) -> Turn:
        """A new thread's first run; its questions."""
        asked = await self._program.ask(case, expires_in)
        await self._publish(asked)
        # However much an authorization is for, it is one question.
        return await self.asked(2 if case == "two" and not self.peer.elsewhere else 1)

    async def asked(self, count: int) -> Turn:
        """The questions of a run that were not there before."""
        questions = await self._bridge.until(self._new_run, "the run's questions")
        self._known |= {one["approval_id"] for one in questions}
        if len(questions) != count:
            raise Trouble(f"expected {_questions(count)}, the run asks {len(questions)}")
        turn = Turn(run_of(questions[0]), questions)
        self._played.turns.append(turn)
        return turn

    async def answer(self, turn: Turn, index: int) -> None:
        """The right answer to one question; an authorization takes none."""
        if self.peer.elsewhere:
            await self._answer(turn.asked[index], "out_of_band", payload=self.peer.answer)
            turn.elsewhere = True
            return
        await self._answer(turn.asked[index], "accepted", payload=self.peer.answer)
        turn.given.append({"status": "resolved", "reason": "answered", "payload": self.peer.answer})

    async def cancel(self, turn: Turn, index: int) -> None:
        """No to one question."""
        await self._answer(turn.asked[index], "accepted", status="cancelled")
        turn.given.append({"status": "cancelled", "reason": "cancelled"})

    async def answer_wrongly(self, turn: Turn) -> None:
        """An answer that the question's schema does not take."""
        await self._answer(turn.asked[0], "invalid_payload", payload=self.peer.wrong)
        latest = self._bridge.observed.approvals[turn.asked[0]["approval_id"]]
        if latest["status"] != "pending":
            raise Trouble(f"expected the question to stay pending, it is {latest['status']}")

    async def expire(self, turn: Turn, index: int) -> None:
        """The question's own deadline passes, or an operator lets it."""
        if not self.peer.own_deadline:
            order = {"op": "expire", "approval_id": turn.asked[index]["approval_id"]}
            await self._bridge.operate(order)
        elif "expires_at" not in turn.asked[index]:
            raise Trouble("expected a question with a deadline of its own, it has none")
        reason = "expired" if self.peer.own_deadline else "operator"
        turn.given.append({"status": "cancelled", "reason": reason})

    async def resume(self, turn: Turn) -> str:
        """Give the command to the program, publish what its agent says; how the run ended."""
        if turn.elsewhere:
            return await self._sign_in(turn)
        turn.command = await self._bridge.until(
            lambda seen: next(iter(seen.commands_of(turn.run)), None), "a resume command"
        )
        reply = await self._program.resume(turn.command.native)
        turn.reply = reply
        await self._publish(reply)
        return str(reply.get("end"))

    async def _sign_in(self, turn: Turn) -> str:
        """The agent goes on by itself, and that closes its question; so does its next one."""
        turn.reply = await self._program.sign_in(turn.run[2])
        await self._publish(turn.reply)
        (asked,) = (one["approval_id"] for one in turn.asked)

        def closed(seen: Observed) -> bool | None:
            return seen.approvals[asked].get("run_outcome") in {"withdrawn", "superseded"} or None

        await self._bridge.until(closed, "the authorization's end")
        return str(turn.reply.get("end"))

    async def _answer(self, question: Members, expected: str, **members: Any) -> None:
        self._sent += 1
        number = f"{self.peer.name}/{self._played.case}/{self._sent}"
        action = {} if self.peer.action is None else {"action": self.peer.action}
        given = {"status": "resolved", **action, **members} if "payload" in members else members
        identity = {"approval_id": question["approval_id"], "answer_id": number}
        await self._bridge.answer({**identity, "answered_by": "harness", **given})
        verdict = await self._bridge.until(
            lambda seen: next(iter(seen.verdicts.get(number, ())), None), f"a verdict on {number}"
        )
        if verdict["verdict"] != expected:
            raise Trouble(_surprise(verdict, expected))

    async def _publish(self, reply: Mapping[str, Any]) -> None:
        records = reply.get("records")
        if not isinstance(records, list) or not records:
            raise Trouble("expected records in the program's reply, it has none")
        self._played.origins.update(await self._bridge.publish(self.peer, records))

    def _new_run(self, seen: Observed) -> list[Members] | None:
        new = [one for one in seen.pending(self.peer.name) if one["approval_id"] not in self._known]
        same = [one for one in new if run_of(one) == run_of(new[0])]
        return same if same and len(same) == same[0]["total"] else None


async def _answered(scene: _Scene) -> None:
    turn = await scene.ask("one")
    await scene.answer(turn, 0)
    await scene.resume(turn)


async def _all_cancelled(scene: _Scene) -> None:
    turn = await scene.ask("two")
    for index in range(len(turn.asked)):
        await scene.cancel(turn, index)
    await scene.resume(turn)


async def _one_expired(scene: _Scene) -> None:
    turn = await scene.ask("two", EXPIRES_IN if scene.peer.own_deadline else None)
    await scene.answer(turn, 0)
    await scene.expire(turn, 1)
    await scene.resume(turn)


async def _wrong_then_right(scene: _Scene) -> None:
    turn = await scene.ask("one")
    await scene.answer_wrongly(turn)
    await scene.answer(turn, 0)
    await scene.resume(turn)


async def _asks_again(scene: _Scene) -> None:
    turn = await scene.ask("again")
    await scene.answer(turn, 0)
    if await scene.resume(turn) != "asks":
        return  # the judge says what it did instead
    turn = await scene.asked(1)
    await scene.answer(turn, 0)
    await scene.resume(turn)


SCRIPTS: Final[Mapping[str, Callable[[_Scene], Awaitable[None]]]] = {
    ANSWERED: _answered,
    ALL_CANCELLED: _all_cancelled,
    ONE_EXPIRED: _one_expired,
    WRONG_THEN_RIGHT: _wrong_then_right,
    ASKS_AGAIN: _asks_again,
}


def _questions(count: int) -> str:
    return "one question" if count == 1 else f"{count} questions"


def _surprise(verdict: Members, expected: str) -> str:
    problems = "; ".join(f"{each['path']} {each['message']}" for each in verdict["problems"])
    return f"expected the verdict {expected}, got {verdict['verdict']}" + (
        f" ({problems})" if problems else ""
    )
