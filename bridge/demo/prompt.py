"""The same agents, answered by the person at the keyboard.

One question after the other, agent by agent; what is typed is the answer's payload, in JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
from dataclasses import replace

import msgspec

from bridge.demo.cast import Reply
from bridge.demo.outcomes import Ending, Passing
from bridge.demo.scene import TAKEOVER_SECONDS, Scene
from bridge.demo.task_agent import SIGN_IN
from bridge.records import Approval

PATIENCE_SECONDS = 120.0
"""Until the deadline of the one question that has one: enough to read, soon enough to see."""

_MORE = "s to skip, t for all, k to kill its worker, q to end:"
HELP = f"JSON to answer, d to decline, {_MORE}"
SIGN_IN_HELP = f"nothing to answer: Enter when you are there and signed in, d to give up, {_MORE}"


class Typed:
    """Lines from a file descriptor, without making the end of the program wait for the next."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        # os.read holds no lock of Python's: a daemon thread in readline would abort the exit.
        threading.Thread(target=self._read, daemon=True, name="typed").start()

    async def line(self) -> str | None:
        """The next line without its blanks; None at the end."""
        return await self._lines.get()

    def _read(self) -> None:
        rest = b""
        while chunk := os.read(self._descriptor, 4096):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._hand_over(line.decode(errors="replace").strip())
        self._hand_over(None)

    def _hand_over(self, line: str | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended before us
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


class Conversation:
    """Asks the person until nothing is pending or they have had enough."""

    def __init__(self, scene: Scene, typed: Typed) -> None:
        self._scene = scene
        self._typed = typed
        self._skipped: list[str] = []

    async def hold(self) -> None:
        """Question by question."""
        while (view := self._next()) is not None:
            say = self._scene.screen.say
            say(f"{view.source} asks ({view.index + 1} of {view.total}): {view.message}")
            if view.response_schema is not None:
                schema = json.dumps(msgspec.json.decode(view.response_schema))
                say(f"its schema: {schema}", "quiet")
            say(SIGN_IN_HELP if view.kind == "authorization" else HELP, "quiet")
            line = await self._typed.line()
            if line in (None, "q"):
                return
            await self._take(view, str(line))
            await self._resumes()

    def _next(self) -> Approval | None:
        """The first that was not skipped; when all were, the first of them again."""
        names = [agent.name for agent in self._scene.cast.agents]
        pending = sorted(
            self._scene.witness.pending(), key=lambda view: (names.index(view.source), view.index)
        )
        fresh = [view for view in pending if view.approval_id not in self._skipped]
        if pending and not fresh:
            self._skipped.clear()
        return next(iter(fresh or pending), None)

    async def _take(self, view: Approval, line: str) -> None:
        if line == "s":
            self._skipped.append(view.approval_id)
        elif line == "t":
            self._scene.screen.board()
        elif line == "k":
            await self._kill(view)
        elif line == "d":
            await self._answer(view, None, declines=True)
        elif view.kind == "authorization" and not line:
            # The task goes on by itself, and then asks what it came for.
            agent = self._scene.cast.agent(view.source)
            await self._scene.passes(Passing(agent, view.run_id, "moved_on"))
            text = "the task works again: its question has closed by itself"
            self._scene.screen.say(text, "good")
            await self._scene.ask(agent)
            await self._scene.is_asked(agent)
        else:
            try:
                payload = json.loads(line)
            except ValueError as error:
                text = f'not JSON ({error}); texts need quotes: "publish"'
                self._scene.screen.say(text, "bad")
                return
            await self._answer(view, payload, declines=False)

    async def _answer(self, view: Approval, payload: object, *, declines: bool) -> None:
        scene = self._scene
        reply = Reply(
            answer_id=f"typed-{len(scene.replies) + 1}",
            agent=scene.cast.agent(view.source),
            interrupt=view.index,
            payload=payload,
            verdict="",
            by="you",
            status="cancelled" if declines else "resolved",
            run_id=view.run_id,
        )
        await scene.send(reply)
        found = await scene.verdict(reply, TAKEOVER_SECONDS)
        # What was shown is what the topic must say at the end.
        scene.replies[-1] = replace(reply, verdict=found.verdict)
        if found.verdict == "accepted":
            # The approval's next revision: there is no order between topics.
            await scene.witness.until(
                lambda: scene.witness.views[view.approval_id].status != "pending",
                TAKEOVER_SECONDS,
                f"the next revision of {view.approval_id}",
            )

    async def _kill(self, view: Approval) -> None:
        scene = self._scene
        if scene.crash is not None:
            scene.screen.say("one worker is left, and it is needed", "bad")
            return
        victim = scene.stage.holder(scene.cast.agent(view.source))
        crash = scene.kill(victim)
        with scene.screen.busy(
            f"{victim.name} is dead; the other takes over when its seat is free"
        ):
            await scene.taken_over(crash)
        scene.screen.say(f"its slots are served again after {crash.seconds:.1f} s", "good")

    async def _resumes(self) -> None:
        """Show every command that came meanwhile: by an answer, or by a deadline."""
        known = {ending.run for ending in self._scene.endings}
        for run, command in list(self._scene.witness.commands.items()):
            if run not in known:
                statuses = tuple(entry.status for entry in command.entries)
                agent = self._scene.cast.agent(run[0])
                await self._scene.finish(Ending(agent, run[2], command.completed_by, statuses))


async def play(scene: Scene) -> None:
    """Ask all questions, then converse about them."""
    scene.screen.chapter("Seven agents end their runs with questions")
    first = [
        (agent, None if agent is not scene.cast.review else SIGN_IN) for agent in scene.cast.agents
    ]
    for agent, run_id in first:
        await scene.starts(agent)
        await scene.ask(agent, run_id)
    for agent, run_id in first:
        await scene.is_asked(agent, run_id)
    scene.screen.board()
    await Conversation(scene, Typed(sys.stdin.fileno())).hold()
