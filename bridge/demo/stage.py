"""The stage: a cluster, topics under names of its own, two workers, and a pen for all others.

Whatever is put up here is taken down again, by process id and by topic name.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiokafka import AIOKafkaProducer
from aiokafka.admin import NewTopic

from bridge.config import Config, load
from bridge.core.ids import home_slot
from bridge.core.model import Origin
from bridge.demo.agent import Agent
from bridge.demo.worker_process import READY_SECONDS, WorkerEnded, WorkerProcess
from bridge.kafka import topic_admin
from bridge.kafka.aiokafka_internals import prepare
from bridge.kafka.clients import ClientSettings, kill, start_producer
from bridge.kafka.topics import Wanted
from bridge.records.topics import Topics

SLOTS = 4
WORKERS = 2
SESSION_SECONDS = 6  # the least that a broker takes by default; a takeover waits for it
TAKEOVER_GRACE_SECONDS = 2
_LOOK_SECONDS = 0.1
KAFKA_VARIABLES = "BRIDGE_KAFKA__"
BOOTSTRAP_VARIABLE = f"{KAFKA_VARIABLES}BOOTSTRAP_SERVERS"


@dataclass(slots=True)
class Stage:
    """What the story plays on. Use `set_up`."""

    config: Config
    config_file: Path
    client: ClientSettings
    environ: Mapping[str, str]
    pen: AIOKafkaProducer
    workers: list[WorkerProcess] = field(default_factory=list)

    @property
    def topics(self) -> Topics:
        """The bridge's own topics."""
        return self.config.topics.names()

    @property
    def sources(self) -> dict[str, str]:
        """Source name to input topic."""
        return {source.name: source.topic_names[0] for source in self.config.sources}

    @property
    def all_topics(self) -> list[str]:
        return [*self.topics.values(), *self.sources.values()]

    async def write(self, topic: str, key: str | None, value: bytes) -> Origin:
        """One record as any other team's producer writes it."""
        sent = await self.pen.send_and_wait(topic, value, None if key is None else key.encode())
        return Origin(sent.topic, sent.partition, sent.offset, sent.timestamp)

    async def start_workers(self) -> None:
        """Start all and wait until each serves its share of the slots."""
        for number in range(1, WORKERS + 1):
            log = self.config_file.with_name(f"worker-{number}.log")
            self.workers.append(WorkerProcess(number, self.config_file, log, self.environ))
        await self.settled()

    async def settled(self) -> None:
        """Wait until the running workers serve all slots between them."""
        deadline = time.monotonic() + READY_SECONDS
        while True:
            running = [worker for worker in self.workers if worker.running] or self.workers
            ready = [await worker.look() for worker in running]
            held = sorted(slot for worker in running for slot in worker.slots)
            all_hold = all(worker.slots for worker in running)
            if all(ready) and all_hold and held == [*range(SLOTS)]:
                return
            if time.monotonic() > deadline:
                logs = "\n".join(worker.tail() for worker in self.workers)
                raise WorkerEnded(f"the slots are not served after {READY_SECONDS:.0f} s\n{logs}")
            await asyncio.sleep(_LOOK_SECONDS)

    def holder(self, agent: Agent) -> WorkerProcess:
        """The worker that serves the agent's thread."""
        slot = home_slot(agent.thread_id, SLOTS)
        return next(worker for worker in self.workers if slot in worker.slots)

    async def stop_workers(self) -> dict[str, int]:
        """Stop those that run; their exit codes by name."""
        running = [worker for worker in self.workers if worker.running]
        codes = await asyncio.gather(*(worker.stop() for worker in running))
        return {worker.name: code for worker, code in zip(running, codes, strict=True)}


@asynccontextmanager
async def set_up(
    bootstrap: str, agents: Iterable[Agent], *, remove_topics: bool
) -> AsyncIterator[Stage]:
    """Topics and a producer for these agents, each a source; workers are started by the story.

    `remove_topics` at the end: on a cluster that stays. Raises ClusterError when the cluster
    refuses something.
    """
    name = f"bridge-demo-{uuid.uuid4().hex[:6]}"
    directory = Path(tempfile.mkdtemp(prefix=f"{name}-"))
    try:
        file = directory / "bridge.toml"
        file.write_text(_settings(name, bootstrap, agents), encoding="utf-8")
        # How to reach the cluster is the user's; everything else of the bridge is the story's.
        environ = {"PYTHONUNBUFFERED": "1"} | {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("BRIDGE_") or name.startswith(KAFKA_VARIABLES)
        }
        config = load(file, environ)
        client = config.kafka.client_kwargs()
        prepare()
        pen = AIOKafkaProducer(**client, acks="all", enable_idempotence=True)
        stage = Stage(config, file, client, environ, pen)
        try:
            async with _open(stage):
                yield stage
        finally:
            if remove_topics:
                async with topic_admin.connected(client) as admin:
                    await admin.delete_topics(stage.all_topics)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@asynccontextmanager
async def _open(stage: Stage) -> AsyncIterator[None]:
    """Topics and pen; what was put up is taken down again, whatever happened."""
    async with topic_admin.connected(stage.client) as admin:
        brokers = len((await admin.describe_cluster())["brokers"])
        inputs = [NewTopic(name, SLOTS, min(3, brokers)) for name in stage.sources.values()]
        await topic_admin.ensure(admin, inputs)
    wanted = Wanted(stage.topics, tuple(stage.sources.values()), SLOTS)
    await topic_admin.create(stage.client, wanted)
    await start_producer(stage.pen)
    try:
        yield
    finally:
        await kill(stage.pen)
        await stage.stop_workers()


def _settings(name: str, bootstrap: str, agents: Iterable[Agent]) -> str:
    """bridge.toml. A JSON text is a TOML text, for what stands here."""
    text = f"""\
app_id = "{name}"

[kafka]
bootstrap_servers = {json.dumps(bootstrap)}

[topics]
prefix = "{name}."
partitions = {SLOTS}

[http]
port = 0

[worker]
session_timeout = "{SESSION_SECONDS}s"
takeover_grace = "{TAKEOVER_GRACE_SECONDS}s"
reroute_grace = "1s"
"""
    for agent in agents:
        topic = f"{name}.agents.{agent.name}"
        words = {"name": agent.name, "protocol": agent.protocol, "topic": topic}
        table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in words.items())
        # The agent's settings, which are TOML already, come last.
        options = f"\n[sources.options]\n{agent.options}" if agent.options else ""
        text += f"\n[[sources]]\n{table}{options}"
    return text


def command_line(*words: str) -> list[str]:
    """An `interrupt-bridge` command of this very installation."""
    return [sys.executable, "-m", "bridge.cli.main", *words]
