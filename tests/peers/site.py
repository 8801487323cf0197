"""A real deployment for the run: topics of its own, one worker, a pen, and who watches its outputs.

Every peer has a source and a topic under its own name.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from aiokafka import AIOKafkaProducer
from aiokafka.admin import NewTopic

from bridge.cli.positions import inputs
from bridge.config import Config, load
from bridge.demo.worker_process import READY_SECONDS, WorkerProcess
from bridge.kafka import topic_admin
from bridge.kafka.aiokafka_internals import prepare
from bridge.kafka.clients import ClientSettings, kill, start_producer
from bridge.kafka.positions import standings
from bridge.kafka.reader import Reader, reading, snapshot
from tests.peers.observed import ROLES, Observed
from tests.peers.peer import Peer
from tests.peers.program import Trouble

T = TypeVar("T")

SLOTS = 3  # so that records of most threads take a hop home
WAIT_SECONDS = 30.0
SETTLE_SECONDS = 30.0
_LOOK_SECONDS = 0.1
_SETTINGS = f"""\
app_id = "peers"

[topics]
partitions = {SLOTS}

[http]
port = 0

[log]
format = "json"

[worker]
reroute_grace = "500ms"
takeover_grace = "1s"
"""


class Site:
    """What the run talks to. Use `set_up`."""

    def __init__(self, config: Config, pen: AIOKafkaProducer) -> None:
        self.observed = Observed()
        self._config = config
        self._client: ClientSettings = config.kafka.client_kwargs()
        self._roles: dict[str, str] = {config.topics.names()[role]: role for role in ROLES}
        self._pen = pen
        self._changed = asyncio.Condition()
        self._ending = False

    async def publish(self, peer: Peer, records: Sequence[Mapping[str, Any]]) -> list[str]:
        """A program's records on the peer's topic, in order; where each stands."""
        return [await self._publish(peer, record) for record in records]

    async def answer(self, members: Mapping[str, Any]) -> None:
        """An answer, as any other team's service writes it."""
        await self._write("answers", members)

    async def operate(self, members: Mapping[str, Any]) -> None:
        """An operator's order."""
        await self._write("operations", members)

    async def until(self, holds: Callable[[Observed], T | None], what: str) -> T:
        """Wait for something to be seen. Raises Trouble after half a minute."""
        found: list[T] = []

        def look() -> bool:
            seen = holds(self.observed)
            found.extend([] if seen is None else [seen])
            return bool(found)

        try:
            async with asyncio.timeout(WAIT_SECONDS), self._changed:
                await self._changed.wait_for(look)
        except TimeoutError:
            raise Trouble(f"waited {WAIT_SECONDS:.0f} s in vain for {what}") from None
        return found[0]

    async def settled(self) -> Observed:
        """All that is committed once everything written so far was worked on.

        Read anew from the beginning, so that nothing depends on what was watched.
        """
        deadline = time.monotonic() + SETTLE_SECONDS
        while lag := await self._lag():
            if time.monotonic() > deadline:
                raise Trouble(f"{lag} records are not worked on after {SETTLE_SECONDS:.0f} s")
            await asyncio.sleep(_LOOK_SECONDS)
        final = Observed()
        for record in await snapshot(self._client, *self._roles):
            final.take(self._roles[record.origin.topic], record.value, record.headers)
        return final

    async def follow(self, reader: Reader) -> None:
        """Take outputs as they come, until `end`."""
        while not self._ending:
            for record in await reader.poll(_LOOK_SECONDS):
                role = self._roles[record.origin.topic]
                self.observed.take(role, record.value, record.headers)
            async with self._changed:
                self._changed.notify_all()

    def end(self) -> None:
        """`follow` returns after its poll."""
        self._ending = True

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Outputs are followed meanwhile."""
        async with reading(self._client, *self._roles) as reader:
            following = asyncio.create_task(self.follow(reader))
            try:
                yield
            finally:
                self.end()
                await following

    async def _publish(self, peer: Peer, record: Mapping[str, Any]) -> str:
        key = record.get("key")
        headers = [(name, text.encode()) for name, text in (record.get("headers") or {}).items()]
        sent = await self._pen.send_and_wait(
            peer.name,
            record["value"].encode(),
            None if key is None else key.encode(),
            headers=headers,
        )
        return f"{sent.topic}/{sent.partition}/{sent.offset}"

    async def _write(self, role: Any, members: Mapping[str, Any]) -> None:
        topic = self._config.topics.names()[role]
        # No key: where an answer lies must not matter.
        await self._pen.send_and_wait(topic, json.dumps(members).encode())

    async def _lag(self) -> int:
        found = await standings(self._client, inputs(self._config))
        return sum((at.end or 0) if at.lag is None else at.lag for at in found)


@asynccontextmanager
async def set_up(bootstrap: str, peers: Iterable[Peer], folder: Path) -> AsyncIterator[Site]:
    """Topics, a ready worker and a watched site for these peers, in an empty folder."""
    file, environ = folder / "bridge.toml", _environ(bootstrap, peers)
    file.write_text(_SETTINGS, encoding="utf-8")
    config = load(file, environ)
    client = config.kafka.client_kwargs()
    async with topic_admin.connected(client) as admin:
        topics = [NewTopic(source.name, 2, 1) for source in config.sources]
        await topic_admin.ensure(admin, topics)
    await asyncio.to_thread(_create_topics, file, environ)
    prepare()
    pen = AIOKafkaProducer(**client, acks="all", enable_idempotence=True)
    await start_producer(pen)
    try:
        async with _worker(file, environ):
            site = Site(config, pen)
            async with site.watched():
                yield site
    finally:
        await kill(pen)


def _environ(bootstrap: str, peers: Iterable[Peer]) -> dict[str, str]:
    """Sources by the environment: their options are nested, and JSON is at hand."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("BRIDGE_")}
    sources = [
        {"name": peer.name, "protocol": peer.protocol, "topic": peer.name, **peer.source}
        for peer in peers
    ]
    given = {
        "BRIDGE_KAFKA__BOOTSTRAP_SERVERS": bootstrap,
        "BRIDGE_SOURCES": json.dumps(sources),
    }
    return {**own, **given}


def _create_topics(file: Path, environ: Mapping[str, str]) -> None:
    line = [sys.executable, "-m", "bridge.cli.main", "topics", "create", "--config", str(file)]
    done = subprocess.run(
        line, env=environ, check=False, capture_output=True, text=True, timeout=120
    )
    if done.returncode != 0:
        raise Trouble(f"`topics create` ended with {done.returncode}:\n{done.stderr}")


@asynccontextmanager
async def _worker(file: Path, environ: Mapping[str, str]) -> AsyncIterator[None]:
    """One worker that serves all slots; whether it ended well is part of the run."""
    worker = WorkerProcess(1, file, file.with_name("worker.log"), environ)
    try:
        deadline = time.monotonic() + READY_SECONDS
        while not (await worker.look() and len(worker.slots) == SLOTS):
            if time.monotonic() > deadline:
                raise Trouble(f"the worker is not ready:\n{worker.tail()}")
            await asyncio.sleep(_LOOK_SECONDS)
        yield
    finally:
        code = await worker.stop()
    if code != 0:
        raise Trouble(f"the worker ended with exit code {code}:\n{worker.tail()}")
