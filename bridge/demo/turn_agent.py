"""An agent of Genkit: its thread is a session, its questions are the paused tools of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from bridge.demo.agent import Agent, Json, encoded
from bridge.records import ResumeCommand


class TurnAgent(Agent):
    """A turn pauses with the finish reason `interrupted`; its run is called by its snapshot."""

    __slots__ = ()
    protocol: ClassVar[str] = "genkit"
    answers_at: ClassVar[tuple[str, ...]] = ("data", "resume")

    def starts(self, run_id: str) -> None:
        """As `Agent` says: the beginning of a turn is on no topic."""

    def asks(self, run_id: str) -> bytes:
        """As `Agent` says."""
        return self._turn(run_id, "interrupted", self.interrupts)

    def goes_on(self, command: ResumeCommand) -> None:
        """As `Agent` says."""

    def ends(self, command: ResumeCommand) -> bytes:
        """As `Agent` says."""
        return self._turn(f"{command.run_id}-next", "stop", [{"text": "All done."}])

    def method(self, statuses: Sequence[str]) -> str:
        """As `Agent` says."""
        return "resume"

    def interrupt_id(self, run_id: str, index: int) -> None:
        """As `Agent` says."""

    def _turn(self, snapshot: str, reason: str, content: Sequence[Json]) -> bytes:
        message: Json = {"role": "model", "content": content}
        ids: dict[str, Any] = {"sessionId": self.thread_id, "snapshotId": snapshot}
        return encoded({**ids, "finishReason": reason, "message": message})


_OPTIONS = """\
agent = "bank"
runtime = "js"

[sources.options.tools.transferMoney]
action = "restart"
refusal = { status = "declined" }

[sources.options.tools.askUser]
action = "respond"
output_schema = { type = "object", required = ["answer"] }
refusal = { answer = "no answer" }
"""


def bank() -> TurnAgent:
    """One tool that runs again once it may, and one whose answer is its output."""

    def ask(name: str, ref: str, message: str, given: Json) -> Json:
        request = {"name": name, "ref": ref, "input": given}
        return {"toolRequest": request, "metadata": {"interrupt": {"message": message}}}

    rent = {"to": "landlord", "amount": 870.00}
    return TurnAgent(
        "bank",
        "Genkit",
        "rent-december",
        "snap-5c20",
        (
            ask("transferMoney", "c1", "Transfer 870.00 EUR to the landlord?", rent),
            ask("askUser", "c2", "Which account?", {"accounts": ["giro", "savings"]}),
        ),
        scope="bank",
        options=_OPTIONS,
    )
