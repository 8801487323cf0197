"""What can be done on the stage, shown while it is done: ask, answer, resume, kill a worker.

It also keeps the notes that the epilogue compares with the topics.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from bridge.core.ids import RunKey
from bridge.core.model import ThreadKey
from bridge.demo.agent import Agent
from bridge.demo.cast import Cast, Reply
from bridge.demo.outcomes import Ending, Passing, Run
from bridge.demo.pending_table import Pending, Row
from bridge.demo.screen import Screen, Tone
from bridge.demo.stage import Stage
from bridge.demo.witness import Witness
from bridge.demo.worker_process import WorkerProcess
from bridge.records import AnswerVerdict, ResumeCommand

VISIBLE_SECONDS = 30.0  # for anything that no takeover holds up
TAKEOVER_SECONDS = 60.0  # session 6 s, then fencing and restoring on a machine that is busy

_TONES: Mapping[str, Tone] = {"accepted": "good", "duplicate": "plain"}


@dataclass(slots=True)
class Crash:
    """A worker that was killed. Instants in seconds of the monotonic clock."""

    victim: WorkerProcess
    slots: tuple[int, ...]
    at: float
    over: float | None = None

    @property
    def seconds(self) -> float | None:
        """Until the last of its slots had its first commit elsewhere."""
        return None if self.over is None else self.over - self.at


@dataclass(slots=True)
class Scene:
    """The acts, and what they leave to be checked."""

    stage: Stage
    witness: Witness
    screen: Screen
    cast: Cast
    replies: list[Reply] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)
    passings: list[Passing] = field(default_factory=list)
    asked_at: dict[Run, float] = field(default_factory=dict)
    crash: Crash | None = None

    async def pause(self, sentences: float = 1) -> None:
        """As long as a person needs to read; nothing in a pipe."""
        await asyncio.sleep(sentences * self.screen.pace)

    async def ask(self, agent: Agent, run_id: str | None = None) -> None:
        """The agent's run ends with its questions."""
        run_id = run_id or agent.run_id
        self.asked_at[agent.name, agent.thread_id, run_id] = time.monotonic()
        await self._event(agent, agent.asks(run_id))

    async def starts(self, agent: Agent) -> None:
        """The agent's first run begins."""
        await self._event(agent, agent.starts(agent.run_id))

    async def passes(self, passing: Passing) -> None:
        """The agent goes on without an answer, and its open question closes."""
        self.passings.append(passing)
        await self._event(passing.agent, passing.agent.starts(passing.run_id))
        await self.witness.until(
            lambda: self.witness.is_closed(passing.run),
            TAKEOVER_SECONDS,
            f"the end of run {passing.run_id} of {passing.agent.name}",
        )

    async def is_asked(self, agent: Agent, run_id: str | None = None) -> None:
        """Wait until others can see the questions."""
        run = (agent.name, agent.thread_id, run_id or agent.run_id)
        seen = self.witness.asked_at
        await self.witness.until(lambda: run in seen, VISIBLE_SECONDS, f"approvals of {run}")

    async def send(self, reply: Reply) -> None:
        """Somebody answers; the verdict comes later."""
        said = json.dumps(reply.payload) if reply.status == "resolved" else "declines"
        self.screen.say(f"{reply.by} to {question_of(reply)}: {said}", "person")
        self.replies.append(reply)
        approval_id = self._approval_id(reply)
        key = {"thread": reply.agent.thread_id, "approval": approval_id, "none": None}[reply.key]
        named = reply.agent.interrupt_id(reply.run, reply.interrupt) is not None
        record = reply.record(None if named else approval_id)
        await self.stage.write(self.stage.topics["answers"], key, record)

    async def verdict(self, reply: Reply, within: float = VISIBLE_SECONDS) -> AnswerVerdict:
        """Wait for the verdict on an answer, and show it."""
        seen = self.witness.verdicts
        await self.witness.until(
            lambda: reply.answer_id in seen, within, f"a verdict on {reply.answer_id}"
        )
        found = seen[reply.answer_id]
        tone = _TONES.get(found.verdict, "bad")
        self.screen.say(f"{question_of(reply)}: {verdict_text(found)}", tone)
        return found

    async def give(self, reply: Reply, why: str = "") -> AnswerVerdict:
        """Answer and wait for the verdict; `why` is said after it."""
        await self.send(reply)
        found = await self.verdict(reply)
        if why:
            self.screen.say(why, "quiet")
        await self.pause()
        return found

    async def resume(self, ending: Ending, within: float = VISIBLE_SECONDS) -> ResumeCommand:
        """Wait for the run's command, show its body, and let the agent start from it."""
        seen, agent = self.witness.commands, ending.agent
        what = f"the resume command of {agent.name}"
        await self.witness.until(lambda: ending.run in seen, within, what)
        self.endings.append(ending)
        command = seen[ending.run]
        entries = len(command.entries)
        self.screen.say(
            f"resume command for {agent.name} ({agent.framework}), {entries} of {entries} covered, "
            f"completed by {command.completed_by}; the body to send:",
            "command",
        )
        lines = self.screen.pace > 0
        body = json_text(msgspec.json.decode(command.native.body), agent.answers_at, lines=lines)
        self.screen.say(body, "quiet")
        await self._event(agent, agent.goes_on(command))
        await self.pause()
        return command

    async def finish(self, ending: Ending, within: float = VISIBLE_SECONDS) -> None:
        """As `resume`; the agent then ends its work and asks no more."""
        command = await self.resume(ending, within)
        await self._event(ending.agent, ending.agent.ends(command))

    def kill(self, victim: WorkerProcess) -> Crash:
        """SIGKILL a worker."""
        self.crash = Crash(victim, victim.slots, time.monotonic())
        victim.kill()
        return self.crash

    async def taken_over(self, crash: Crash) -> None:
        """Wait until every slot of the killed worker has committed in another's hands."""
        seen = self.witness.taken_over_at
        await self.witness.until(
            lambda: all(seen.get(slot, 0.0) > crash.at for slot in crash.slots),
            TAKEOVER_SECONDS,
            f"a takeover of the slots {crash.slots}",
        )
        crash.over = max(seen[slot] for slot in crash.slots)
        await self.stage.settled()

    def pending(self) -> Pending:
        """What the board shows."""
        rows = [Row(view, self.witness.answered(view)) for view in self.witness.pending()]
        duties = []
        for worker in self.stage.workers:
            slots = ", ".join(map(str, worker.slots))
            serves = f"{worker.name} (pid {worker.pid}) serves slots {slots}"
            duties.append(serves if worker.running else f"{worker.name} is gone")
        return Pending(rows, "; ".join(duties))

    def _approval_id(self, reply: Reply) -> str:
        """What anybody can compute who knows the question's names; else what was published."""
        agent, run_id = reply.agent, reply.run
        interrupt_id = agent.interrupt_id(run_id, reply.interrupt)
        if interrupt_id is None:
            run = (agent.name, agent.thread_id, run_id)
            return self.witness.view(run, reply.interrupt).approval_id
        thread = ThreadKey(agent.name, agent.scope, agent.thread_id)
        return RunKey.of(thread, run_id).approval_id(interrupt_id)

    async def _event(self, agent: Agent, event: bytes | None) -> None:
        if event is not None:
            await self.stage.write(self.stage.sources[agent.name], agent.thread_id, event)


def question_of(reply: Reply) -> str:
    """`file-keeper, question 3`; without a number where there is only one."""
    several = reply.agent.asked(reply.run) > 1
    return f"{reply.agent.name}{f', question {reply.interrupt + 1}' if several else ''}"


def verdict_text(found: AnswerVerdict) -> str:
    """The verdict, what is wrong with the answer, and how much of its run is still open."""
    left = f" ({found.open} of the run still open)" if found.open else ""
    problems = [f"; {each.path or '/'}: {each.message}" for each in found.problems]
    return f"{found.verdict}{left}{''.join(problems)}"


def json_text(body: Any, spread: Sequence[str], *, lines: bool) -> str:
    """JSON as it could be sent: on one line for a pipe, what stands at `spread` item by item for a
    person."""
    if not (lines and isinstance(body, dict)):
        return json.dumps(body, ensure_ascii=False)
    name, *inside = spread
    members = [
        _opened(key, value, inside) if key == name else _member(key, value)
        for key, value in body.items()
    ]
    return "{" + ", ".join(members) + "}"


def _opened(key: str, value: Any, inside: Sequence[str]) -> str:
    """A member on the way to what is spread, or that itself."""
    if inside:
        return f"{json.dumps(key)}: {json_text(value, inside, lines=True)}"
    if isinstance(value, dict):
        opening, closing, items = "{", "}", [_member(*member) for member in value.items()]
    else:
        opening, closing = "[", "]"
        items = [json.dumps(item, ensure_ascii=False) for item in value]
    spread = ",\n    ".join(items)
    return f"\n  {json.dumps(key)}: {opening}\n    {spread}\n  {closing}"


def _member(key: str, value: Any) -> str:
    return f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
