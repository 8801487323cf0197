"""A slot of this worker: one tenure after another, until the group gives it to somebody else.

What it shares with other slots cannot fail with them. After any failure it is opened again from
the log; what only people can mend makes it stand still, say so, and look again now and then.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from dataclasses import replace
from typing import Any, Final

from aiokafka.structs import TopicPartition

from bridge.errors import (
    BridgeError,
    DeploymentMismatch,
    Fenced,
    InputUnknown,
    NotAuthorized,
    OutcomeUnknown,
    PositionLost,
    RecordUnreadable,
    RerouteNotHome,
    SourceNotConfigured,
    StateFormatNewer,
    StateLost,
    TopicNotStamped,
    TransactionError,
    TransactionUndecided,
    without_frames,
)
from bridge.kafka.access import explained
from bridge.kafka.clock import BrokerClock
from bridge.kafka.identity import Remembered
from bridge.kafka.lease import Membership
from bridge.kafka.patience import Standing
from bridge.kafka.pulse import SILENT_S
from bridge.kafka.setup import SlotSetup
from bridge.kafka.tenure import Tenure
from bridge.kafka.verdict import Verdicts
from bridge.kafka.vigil import written
from bridge.observe.slot_figures import SlotFigures, SlotState
from bridge.slot.desk import Desk

log = logging.getLogger(__name__)

AskMembership = Callable[[int], Awaitable[Membership]]
"""Whether the group still counts this worker as the owner of a slot."""

FATAL: Final = (
    DeploymentMismatch,
    InputUnknown,
    NotAuthorized,
    PositionLost,
    RecordUnreadable,
    RerouteNotHome,
    SourceNotConfigured,
    StateFormatNewer,
    StateLost,
    TopicNotStamped,
    TransactionUndecided,
)
"""What somebody has to mend: the slot stops and says what to do."""

_UNHEARD_S: Final = 10.0  # one fetch may be lost and be sent again
_LOOK_S: Final = 0.1
_SETTLED_S: Final = 10.0  # a tenure that serves as long has come past what ended those before


class Slot:
    """Serves one slot until it is stopped; `run` returns then, whatever happened before."""

    def __init__(self, desk: Desk, setup: SlotSetup, membership: AskMembership) -> None:
        self._desk = desk
        self._setup = setup
        self._membership = membership
        self._stopping = asyncio.Event()
        self._clock = BrokerClock()
        self._verdicts = Verdicts()
        self._remembered = Remembered()
        self._tenure: Tenure | None = None
        self._log = _SlotLog(log, {"slot": desk.slot})
        self._failures = 0
        self._trouble: Exception | None = None

    @property
    def error(self) -> Exception | None:
        """Why it does not serve: what stopped it or ended its tenure, until it has caught up."""
        serving = self._tenure is not None and self._tenure.state == "serving"
        return None if serving else self._trouble

    @property
    def state(self) -> SlotState:
        if isinstance(self.error, FATAL):
            return "stopped"
        if self._setup.silence() > SILENT_S:
            return "waiting"
        if self._tenure is None:
            return "opening"
        open_ = self._tenure.state in ("catching_up", "serving")
        return "waiting" if open_ and self._tenure.unheard > _UNHEARD_S else self._tenure.state

    async def run(self) -> None:
        """Open and serve, again after each failure, until `stop`."""
        while not self._stopping.is_set():
            try:
                await self._hold_office()
            except Exception as error:  # R7: the client lets more than its own errors through
                setup, ended_by = self._setup, without_frames(error)
                cause = without_frames(await explained(setup.client, setup.access, ended_by))
                if isinstance(cause, FATAL):  # what people have to mend
                    await self._stand_still(cause)
                else:
                    await self._after(cause)

    async def _hold_office(self) -> None:
        """One tenure from its opening to its end, closed whatever happens."""
        tenure = self._tenure = Tenure(
            self._desk, self._setup, self._clock, self._verdicts, self._remembered
        )
        opened = math.inf
        try:
            if await self._unless_stopped(tenure.open()):
                self._log.info("slot opened", extra={"pending": tenure.pending})
                opened = time.monotonic()
                await tenure.serve(self._stopping)
        finally:
            if tenure.state == "serving":  # it came past what had ended the one before
                self._trouble = None
                if time.monotonic() - opened > _SETTLED_S:
                    self._failures = 0
            await tenure.close()

    async def _unless_stopped(self, opening: Coroutine[Any, Any, None]) -> bool:
        """Whether the opening came to its end; a stop cancels it, however long the log is."""
        opened = asyncio.create_task(opening)
        stopped = asyncio.create_task(self._stopping.wait())
        await asyncio.wait((opened, stopped), return_when=asyncio.FIRST_COMPLETED)
        for task in (opened, stopped):
            task.cancel()
        (outcome, _) = await asyncio.gather(opened, stopped, return_exceptions=True)
        if isinstance(outcome, Exception):
            raise outcome
        return not isinstance(outcome, asyncio.CancelledError)

    def stop(self) -> None:
        """Finish the cycle under way, then close. `run` returns soon after."""
        self._stopping.set()

    @property
    def standing(self) -> Standing:
        """What its worker judges by whether to hold on to it."""
        return Standing(
            well=self.state in ("catching_up", "serving"),
            reading=self.state == "restoring",
            failing=self._trouble is not None and not isinstance(self._trouble, FATAL),
        )

    def figures(self) -> SlotFigures:
        """What a scrape shows of this slot."""
        known = SlotFigures(self.state) if self._tenure is None else self._tenure.figures()
        # The only use of this machine's wall clock: to say how far off it is.
        skew = self._clock.skew_seconds(time.time())
        return replace(known, state=self.state, clock_skew=skew)

    async def _stand_still(self, error: BridgeError) -> None:
        """Keep the slot, do nothing for a while, and let readiness and the log say why.

        Whoever mends it in the slot's state wakes it; for other remedies it looks now and then.
        The log says it once for each reason, however often the slot looks again.
        """
        if str(error) != str(self._trouble):
            self._log.error("slot stopped: %s", error, extra={"code": error.code})
        self._trouble = error
        state = TopicPartition(self._setup.topics["state"], self._desk.slot)
        await self._pause(self._setup.times.retry, written(self._setup.client, state))
        await self._wait_for_membership()

    async def _after(self, error: Exception) -> None:
        """Say what happened; then open again, if we still may, a little later each time."""
        self._trouble = error
        if isinstance(error, Fenced):
            await self._wait_for_membership()
            if self._stopping.is_set():  # the fence showed a rebalance before the group did
                self._log.info("slot has a new owner")
                return
        cause = cause_of(error)
        self._setup.metrics.count("rebuilds", cause)
        result = "unknown" if isinstance(error, OutcomeUnknown) else "failed"
        self._setup.metrics.failed("fenced" if isinstance(error, Fenced) else result)
        self._log.warning("slot opens again: %s", error, extra={"code": cause})
        await self._wait_for_brokers()
        if isinstance(error, TransactionError):  # a woken process may have been replaced
            await self._wait_for_membership()
        self._failures += 1
        backoff = self._setup.times.backoff
        await self._pause(backoff[min(self._failures, len(backoff)) - 1])

    async def _wait_for_brokers(self) -> None:
        """While nobody answers there is nothing to try, and no reason to be late afterwards."""
        if self._setup.silence() <= SILENT_S:
            return
        self._failures = 0
        while self._setup.silence() > SILENT_S and not self._stopping.is_set():
            await self._pause(_LOOK_S)

    async def _wait_for_membership(self) -> None:
        """R8: two owners that both reopen would fence each other for ever, and one that stood
        still must not take the slot from whoever has it by now.
        """
        while not self._stopping.is_set():
            if await self._membership(self._desk.slot) == "member":
                return
            await self._pause(self._setup.times.backoff[1])

    async def _pause(self, seconds: float, wake: Coroutine[Any, Any, None] | None = None) -> None:
        """That long, or until the slot is stopped or `wake` returns."""
        waiting: list[asyncio.Task[Any]] = [asyncio.create_task(self._stopping.wait())]
        if wake is not None:
            waiting.append(asyncio.create_task(wake))
        try:
            await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)


class _SlotLog(logging.LoggerAdapter[logging.Logger]):
    """Names the slot in every line, and keeps what a line says besides.

    The standard adapter replaces a line's own extras (before Python 3.13, always).
    """

    def process(
        self, msg: Any, kwargs: MutableMapping[str, Any]
    ) -> tuple[Any, MutableMapping[str, Any]]:
        return msg, {**kwargs, "extra": {**(self.extra or {}), **kwargs.get("extra", {})}}


def cause_of(error: Exception) -> str:
    """The name of a failure in logs and metrics."""
    return error.code if isinstance(error, BridgeError) else type(error).__name__
