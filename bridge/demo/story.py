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
    stdout = screen(interactive=interactive)
    try:
        with _cluster(stdout) as bootstrap:
            return asyncio.run(_play(stdout, bootstrap, interactive=interactive, keep=keep))
    except (KeyboardInterrupt, asyncio.CancelledError) as end:
        stdout.say("interrupted; everything that was started has been stopped", "bad")
        return INTERRUPTED if isinstance(end, KeyboardInterrupt) else TERMINATED


@contextmanager
def _cluster(stdout: Screen) -> Iterator[str]:
    """The cluster that the environment names, or a node of our own."""
    given = os.environ.get(BOOTSTRAP_VARIABLE)
    if given:
        stdout.say(f"{BOOTSTRAP_VARIABLE} is set: playing on {given}, on topics of our own")
        yield given
        return
    broker = DevBroker()
    try:
        with stdout.busy("starting a Kafka node; its jars are fetched with Maven the first time …"):
            broker.start()
        stdout.say(f"one Kafka node at {broker.bootstrap}, pid {broker.pid}", "good")
        yield broker.bootstrap
    finally:
        broker.stop()


async def _play(stdout: Screen, bootstrap: str, *, interactive: bool, keep: bool) -> int:
    task = asyncio.current_task()
    assert task is not None
    # What SIGINT does by itself: unwind, so that everything is taken down.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    owned = BOOTSTRAP_VARIABLE not in os.environ
    # The deadline of a question is of no concern before the play begins.
    agents = cast(datetime.now(UTC)).agents
    async with set_up(bootstrap, agents, remove_topics=not owned) as stage:
        with stdout.busy("creating topics and starting two workers …"):
            await stage.start_workers()
        topics = f"{len(stage.all_topics)} topics {stage.config.app_id}.*"
        stdout.say(f"{topics}, {SLOTS} partitions each", "good")
        for worker in stage.workers:
            slots = " and ".join(map(str, worker.slots))
            stdout.say(f"{worker.name}, pid {worker.pid}, serves slots {slots}", "good")
        try:
            good = await _performed(stage, stdout, interactive=interactive, keep=keep)
        except StoryBroken:
            for worker in stage.workers:
                stdout.say(f"the end of {worker.name}'s log:\n{worker.tail()}", "bad")
            raise
        for name, code in (await stage.stop_workers()).items():
            stdout.say(f"{name} stopped on SIGTERM, exit code {code}", "bad" if code else "good")
            good &= not code
        if not owned:
            stdout.say("removing the topics; an empty consumer group stays", "quiet")
    return 0 if good else 1


async def _performed(stage: Stage, stdout: Screen, *, interactive: bool, keep: bool) -> bool:
    patience = prompt.PATIENCE_SECONDS if interactive else script.patience(stdout.pace)
    players = cast(datetime.now(UTC) + timedelta(seconds=patience))
    async with watching(stage.client, stage.topics) as witness:
        scene = Scene(stage, witness, stdout, players)
        async with stdout.live(scene.pending):
            await (prompt.play(scene) if interactive else script.play(scene))
        return await epilogue.tell(scene, keep=keep)
