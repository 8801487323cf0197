"""A worker: a seat in the group, and a task for each slot that the group gives it.

It starts only on topics that are as needed, and ends in one order under one deadline: the slots
finish their cycle and close, then the seat is given back.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from importlib.metadata import version
from typing import Any, Final

import uvloop

from bridge.config import Config
from bridge.config import Worker as Times
from bridge.config.engine import desk
from bridge.config.engine import times as engine_times
from bridge.errors import BridgeError, GroupTaken
from bridge.kafka import rights, topic_admin, topics
from bridge.kafka.access import explained
from bridge.kafka.admission import Admission
from bridge.kafka.intake import StartFrom
from bridge.kafka.lease import Lease, Membership
from bridge.kafka.names import group_id
from bridge.kafka.patience import Patience
from bridge.kafka.peers import Peers
from bridge.kafka.pulse import SILENT_S, Pulse
from bridge.kafka.setup import SlotSetup, SlotTimes
from bridge.kafka.slot import Slot, cause_of
from bridge.observe.health import Health
from bridge.observe.http import HttpServer, worker_routes
from bridge.observe.metrics import Metrics
from bridge.records.topics import OWN_INPUTS

log = logging.getLogger(__name__)

_BEAT_S: Final = 1.0
_STALLED_S: Final = 30.0  # a loop that has not turned for so long should be restarted
_REJOIN_S: Final = 2.0


class Worker:
    """Serves the slots it is given until `stop`. Build it with settings that name a source."""

    def __init__(self, config: Config) -> None:
        config.require_sources()
        self._config = config
        self._client = config.kafka.client_kwargs()
        self._topics = config.topics.names()
        self._group = group_id(config.app_id, self._topics["state"])
        self._access = rights.of_worker(config)
        self._admission = Admission(self._client, self._access)
        self.metrics = Metrics(version("interrupt-bridge"))
        self.metrics.slots_configured.set(config.topics.partitions)
        self._peers = Peers({s.name: s.topic_names for s in config.sources}, self.metrics)
        self._http = HttpServer(worker_routes(self.metrics, Health(self.is_alive, self.readiness)))
        self._slots: dict[int, Slot] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._lease: Lease | None = None
        self._pulse = Pulse(self._client, self._topics["state"])
        self._patience = Patience(config.worker.give_up / 1000)
        self._gave_up: str | None = None
        self._stopping = asyncio.Event()
        self._turned = time.monotonic()

    async def run(self) -> int:
        """Check, join, serve, leave. 0 when all was in time, 6 when the shutdown deadline passed.

        Rights that are missing at the start are waited for. Raises ClusterError when the cluster
        or its topics are not as needed.
        """
        await self._http.start(self._config.http.host, self._config.http.port)
        try:
            if await self._admission.granted(self._stopping):
                await self._check_topics()
                self._lease = await self._join()
                log.info("worker joined", extra={"group": self._group})
                pulse = asyncio.create_task(self._pulse.run(), name="pulse")
                try:
                    await self._serve()
                finally:
                    pulse.cancel()
                    await asyncio.gather(pulse, return_exceptions=True)
            return await self._shut_down()
        finally:
            await self._http.close()

    def stop(self) -> None:
        """Begin the shutdown; safe to call again."""
        if not self._stopping.is_set():
            log.info("worker stops")
        self._stopping.set()
        if self._lease is not None:
            self._lease.changed.set()

    async def _check_topics(self) -> None:
        config = self._config
        wanted = topics.Wanted(
            names=self._topics,
            inputs=tuple(topic for source in config.sources for topic in source.topic_names),
            partitions=config.topics.partitions,
            bootstrap=config.kafka.bootstrap_servers,
        )
        findings = await topic_admin.check(self._client, wanted)
        topics.refuse(findings)
        for finding in findings:
            log.warning("not checked: %s", finding, extra={"code": finding.code})

    # --- Slots --------------------------------------------------------------------------------

    async def _serve(self) -> None:
        while not self._stopping.is_set():
            self._turned = time.monotonic()
            lease = await self._sound_lease()
            if lease.changed.is_set():
                lease.changed.clear()
                self._peers.learn(lease.roster)
            self._reconcile(lease.assigned)
            standings = [slot.standing for slot in self._slots.values()]
            answering = self._pulse.silence() < SILENT_S
            if self._patience.look(standings, answering, time.monotonic()):
                await self._give_up(lease)
            else:
                await _wait(lease.changed, _BEAT_S)

    def _reconcile(self, assigned: frozenset[int]) -> None:
        """Start what was given, close what was taken; a slot that stays notices nothing."""
        for number in self._slots.keys() - assigned:
            self._slots[number].stop()
        for number, task in list(self._tasks.items()):
            if not task.done():
                continue
            del self._slots[number], self._tasks[number]
            self.metrics.forget_slot(number)
            if not task.cancelled() and (error := task.exception()) is not None:
                log.error("slot task died: %r", error, extra={"slot": number})
        for number in sorted(assigned - self._slots.keys()):
            slot = self._slots[number] = Slot(
                desk(self._config, number), self._setup(), self._membership
            )
            self._tasks[number] = asyncio.create_task(slot.run(), name=f"slot-{number}")
            self.metrics.watch_slot(number, slot.figures)

    def _setup(self) -> SlotSetup:
        inputs: dict[str, StartFrom] = {
            topic: source.start_at
            for source in self._config.sources
            for topic in source.topic_names
        }
        # Answers, operations and what is on its way home are always read from their start.
        inputs |= {self._topics[role]: "earliest" for role in OWN_INPUTS}
        return SlotSetup(
            app_id=self._config.app_id,
            client=self._client,
            topics=self._topics,
            inputs=inputs,
            cycle_max=self._config.limits.cycle_max,
            metrics=self.metrics,
            times=slot_times(self._config.worker),
            waiting=lambda: self._peers.waiting_topics,
            deployment=lambda: "" if self._lease is None else self._lease.deployment,
            silence=self._pulse.silence,
            access=self._access,
        )

    # --- The seat in the group ------------------------------------------------------------------

    async def _join(self) -> Lease:
        config = self._config
        lease = Lease(
            self._client,
            self._group,
            self._topics["reroute"],
            config.topics.partitions,
            sources=[source.name for source in config.sources],
            session_ms=config.worker.session_timeout,
        )
        await lease.join()
        return lease

    async def _membership(self, slot: int) -> Membership:
        return "unknown" if self._lease is None else await self._lease.membership(slot)

    async def _sound_lease(self) -> Lease:
        """A lease that failed is single-use; slots go on meanwhile, their epoch is what counts."""
        assert self._lease is not None
        if self._lease.failure is not None:
            log.warning("the lease failed and is taken again: %r", self._lease.failure)
            await self._lease.kill()
            try:
                self._lease = await self._join()
            except BridgeError as error:
                if isinstance(error, GroupTaken):
                    self._peers.learn(None)
                cause = await explained(self._client, self._access, error)
                log.warning("not joined yet: %s", cause, extra={"code": error.code})
                await _wait(self._stopping, _REJOIN_S)
        return self._lease

    async def _give_up(self, lease: Lease) -> None:
        """Let others have the slots, stay away for a while, and try again."""
        causes = {cause_of(s.error) for s in self._slots.values() if s.error is not None}
        pause = self._patience.give_up()
        self._gave_up = (
            f"none of {len(self._slots)} slots could be opened ({', '.join(sorted(causes))}); "
            f"they are others' for {pause:g} s"
        )
        log.error("worker gives its slots up: %s", self._gave_up, extra={"code": "gave_up"})
        for cause in causes:
            self.metrics.count("gave_up", cause)
        try:
            await self._close_slots()
            self._reconcile(frozenset())
            await lease.leave()
            until = time.monotonic() + pause
            while not self._stopping.is_set() and (left := until - time.monotonic()) > 0:
                self._turned = time.monotonic()
                await _wait(self._stopping, min(left, _BEAT_S))
            if not self._stopping.is_set():
                self._lease = await self._join()
        except BridgeError as error:
            lease.failure = error  # so that it is taken again until that works
            log.warning("not joined yet: %s", error, extra={"code": error.code})
        finally:
            self._gave_up = None

    async def _shut_down(self) -> int:
        """R17: the slots first, so that the next owner finds no open transaction; then the seat."""
        deadline = self._config.worker.shutdown_deadline / 1000
        try:
            async with asyncio.timeout(deadline):
                await self._close_slots()
                if self._lease is not None:
                    await self._lease.leave()
        except TimeoutError:
            log.error("shutdown deadline passed", extra={"seconds": deadline})
            return 6
        log.info("worker stopped")
        return 0

    async def _close_slots(self) -> None:
        for slot in self._slots.values():
            slot.stop()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    # --- Health -------------------------------------------------------------------------------

    @property
    def port(self) -> int | None:
        """Where metrics and health are served; None while they are not."""
        return self._http.port

    @property
    def assigned(self) -> frozenset[int]:
        """The slots that the group gives it now."""
        return frozenset() if self._lease is None else self._lease.assigned

    def is_alive(self) -> bool:
        """Whether its loop turns."""
        return time.monotonic() - self._turned < _STALLED_S

    def readiness(self) -> tuple[bool, dict[str, Any]]:
        """Whether all slots that it was given are served, and what /readyz says besides."""
        joined = self._lease is not None
        missing = self.assigned - self._slots.keys()
        states = {number: slot.state for number, slot in sorted(self._slots.items())}
        ready = (
            joined
            and self._gave_up is None
            and not (missing or self._peers.led_by_stranger)
            and all(state in ("catching_up", "serving") for state in states.values())
        )
        errors = {
            str(n): str(slot.error) for n, slot in self._slots.items() if slot.error is not None
        }
        if self._admission.refusal is not None:
            errors["worker"] = str(self._admission.refusal)
        away = {} if self._gave_up is None else {"gave_up": self._gave_up}
        return ready, {"slots": states, "errors": errors, **away, **self._peers.details()}


def slot_times(times: Times) -> SlotTimes:
    """What the settings say of a slot's times, in its units."""
    return SlotTimes(
        engine=engine_times(times),
        transaction_deadline=times.transaction_deadline / 1000,
        transaction_timeout=times.transaction_timeout / 1000,
    )


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Until the event is set, or so many seconds have passed."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


def run(config: Config) -> int:
    """Run a worker until SIGTERM or SIGINT; the exit code of the process.

    Raises ConfigError and ClusterError for what keeps it from starting.
    """

    async def until_stopped() -> int:
        worker = Worker(config)
        loop = asyncio.get_running_loop()
        for sign in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(sign, worker.stop)
        return await worker.run()

    return uvloop.run(until_stopped())
