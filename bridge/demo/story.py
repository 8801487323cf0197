"""The story of `interrupt-bridge demo`: put the stage up, play, check, take everything down.

Everything happens on real topics with real worker processes; the epilogue reads them back.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from bridge.demo import epilogue, prompt, script
from bridge.demo.broker import DevBroker
from bridge.demo.cast import cast
from bridge.demo.scene import Scene
from bridge.demo.screen import Screen, screen
from bridge.demo.stage import BOOTSTRAP_VARIABLE, SLOTS, Stage, set_up
from bridge.demo.witness import StoryBroken, watching

INTERRUPTED, TERMINATED = 130, 143  # as a shell reports SIGINT and SIGTERM


def main(*, interactive: bool = False, keep: bool = False) -> int:
    """Play, check, clean up. 0 only if the invariants hold and all happened that had to happen.

    `interactive`: a person gives the answers. `keep`: all stays up until Ctrl-C. Raises
    PrerequisiteMissing without Java or Maven, ClusterError, and StoryBroken where the story
    cannot go on.
    """
    told = screen(interactive=interactive)
    try:
        with _cluster(told) as bootstrap:
            return asyncio.run(_play(told, bootstrap, interactive=interactive, keep=keep))
    except (KeyboardInterrupt, asyncio.CancelledError) as end:
        told.say("interrupted; everything that was started has been stopped", "bad")
        return INTERRUPTED if isinstance(end, KeyboardInterrupt) else TERMINATED


@contextmanager
def _cluster(told: Screen) -> Iterator[str]:
    """The cluster that the environment names, or a node of our own."""
    given = os.environ.get(BOOTSTRAP_VARIABLE)
    if given:
        told.say(f"{BOOTSTRAP_VARIABLE} is set: playing on {given}, on topics of our own")
        yield given
        return
    broker = DevBroker()
    try:
        with told.busy("starting a Kafka node; its jars are fetched with Maven the first time …"):
            broker.start()
        told.say(f"one Kafka node at {broker.bootstrap}, pid {broker.pid}", "good")
        yield broker.bootstrap
    finally:
        broker.stop()


async def _play(told: Screen, bootstrap: str, *, interactive: bool, keep: bool) -> int:
    _let_sigterm_cancel()
    owned = BOOTSTRAP_VARIABLE not in os.environ
    # The deadline of a question is of no concern before the play begins.
    agents = cast(datetime.now(UTC)).agents
    async with set_up(bootstrap, agents, remove_topics=not owned) as stage:
        with told.busy("creating topics and starting two workers …"):
            await stage.start_workers()
        topics = f"{len(stage.all_topics)} topics {stage.config.app_id}.*"
        told.say(f"{topics}, {SLOTS} partitions each", "good")
        for worker in stage.workers:
            slots = " and ".join(map(str, worker.slots))
            told.say(f"{worker.name}, pid {worker.pid}, serves slots {slots}", "good")
        try:
            good = await _told(stage, told, interactive=interactive, keep=keep)
        except StoryBroken:
            for worker in stage.workers:
                told.say(f"the end of {worker.name}'s log:\n{worker.tail()}", "bad")
            raise
        good &= await _ends_well(stage, told)
        if not owned:
            told.say("removing the topics; an empty consumer group stays", "quiet")
    return 0 if good else 1


async def _told(stage: Stage, told: Screen, *, interactive: bool, keep: bool) -> bool:
    patience = prompt.PATIENCE_SECONDS if interactive else script.patience(told.pace)
    players = cast(datetime.now(UTC) + timedelta(seconds=patience))
    async with watching(stage.client, stage.topics) as witness:
        scene = Scene(stage, witness, told, players)
        async with told.live(scene.pending):
            await (prompt.play(scene) if interactive else script.play(scene))
        return await epilogue.tell(scene, keep=keep)


async def _ends_well(stage: Stage, told: Screen) -> bool:
    """Stop the workers orderly; whether they did so in time."""
    codes = await stage.stop_workers()
    for name, code in codes.items():
        told.say(f"{name} stopped on SIGTERM, exit code {code}", "bad" if code else "good")
    return not any(codes.values())


def _let_sigterm_cancel() -> None:
    """What SIGINT does by itself: unwind, so that everything is taken down."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
