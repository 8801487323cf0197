"""The witness: follows the bridge's outputs as any other team's consumer would, and notes times.

It reads committed records only; what it has seen is what everybody can see.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from bridge.console.board import Board
from bridge.core.record import Record
from bridge.demo.outcomes import Run
from bridge.errors import BridgeError
from bridge.kafka.clients import ClientSettings
from bridge.kafka.reader import Reader, reading
from bridge.records import AnswerVerdict, Approval, ResumeCommand, decode
from bridge.records.topics import Topics

_POLL_SECONDS = 0.2
_MARK = "__bridge/slot-"


class StoryBroken(BridgeError):
    """Something that the story waits for did not happen."""

    code = "demo"


class Witness:
    """Everything seen so far. Use `watching`."""

    def __init__(self, topics: Topics) -> None:
        """`topics`: role to name."""
        self._roles = {name: role for role, name in topics.items()}
        self._board = Board()
        self._changed = asyncio.Condition()
        self._ending = False
        self.views: dict[str, Approval] = {}
        self.verdicts: dict[str, AnswerVerdict] = {}  # by answer id
        self.commands: dict[Run, ResumeCommand] = {}
        self.asked_at: dict[Run, float] = {}  # first approval of a run, monotonic seconds
        self.taken_over_at: dict[int, float] = {}  # last takeover of a slot, the same clock

    async def follow(self, reader: Reader) -> None:
        """Take records as they come, until `end`."""
        while not self._ending:
            records = await reader.poll(_POLL_SECONDS)
            for record in records:
                self.take(record, time.monotonic())
            async with self._changed:
                self._changed.notify_all()

    def end(self) -> None:
        """`follow` returns after its poll; one that is cancelled counts as under way for ever."""
        self._ending = True

    def take(self, record: Record, at: float) -> None:
        """Note one record that was seen at that monotonic instant."""
        role = self._roles[record.origin.topic]
        if role == "approvals":
            key = (record.key or b"").decode(errors="replace")
            if record.value is None and key.startswith(_MARK):
                self.taken_over_at[int(key.removeprefix(_MARK))] = at
            shown = self._board.take(record)
            if shown is not None:
                view = shown.view
                self.views[view.approval_id] = view
                self.asked_at.setdefault(run_of(view), at)
        elif role == "answer-verdicts":
            if verdict := decode(AnswerVerdict, record):
                self.verdicts[verdict.answer_id] = verdict
        elif command := decode(ResumeCommand, record):
            self.commands[command.source, command.thread_id, command.run_id] = command

    async def until(self, holds: Callable[[], bool], within: float, what: str) -> None:
        """Wait for something to be seen. Raises StoryBroken after `within` seconds."""
        try:
            async with asyncio.timeout(within), self._changed:
                await self._changed.wait_for(holds)
        except TimeoutError:
            raise StoryBroken(f"waited {within:.0f} s in vain for {what}") from None

    def pending(self) -> list[Approval]:
        """The open questions, oldest first."""
        return [shown.view for shown in self._board.pending()]

    def answered(self, view: Approval) -> int:
        """How many questions of the view's run are answered or closed."""
        return sum(other.status != "pending" for other in self._views_of(run_of(view)))

    def view(self, run: Run, index: int) -> Approval:
        """A question of a run that was asked."""
        return next(view for view in self._views_of(run) if view.index == index)

    def is_closed(self, run: Run) -> bool:
        """Whether all of the run's questions show how it ended."""
        return all(view.run_outcome is not None for view in self._views_of(run))

    def _views_of(self, run: Run) -> list[Approval]:
        return [view for view in self.views.values() if run_of(view) == run]


def run_of(view: Approval) -> Run:
    """The run that asks it."""
    return (view.source, view.thread_id, view.run_id)


@asynccontextmanager
async def watching(client: ClientSettings, topics: Topics) -> AsyncIterator[Witness]:
    """A witness that follows approvals, verdicts and commands from their beginning."""
    roles = ("approvals", "answer-verdicts", "resume-commands")
    witness = Witness(topics)
    async with reading(client, *(topics[role] for role in roles)) as reader:
        following = asyncio.create_task(witness.follow(reader), name="witness")
        try:
            yield witness
        finally:
            witness.end()
            await following
