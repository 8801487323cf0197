"""Inputs from the field on real topics, through a real worker: each gets its right result.

A row is one record, and what has to be found of it afterwards. What
came of a record is told by its origin, which approvals, verdicts and dead letters all bear.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.admin import NewTopic

from bridge.kafka import topic_admin
from bridge.kafka.reader import snapshot
from bridge.kafka.topics import Wanted
from bridge.records.topics import Topics
from tests.chaos.workers import Settings, Worker, write_config
from tests.field import built, collected, files
from tests.field.sent import Sent, asks, question
from tests.integration.kafka.deployment import eventually
from tests.topics import create_topics

Place = tuple[str, int]  # topic and offset; every topic here has one partition


@dataclass
class Found:
    """What came of each record, by its place: `asks KIND THREAD/INTERRUPT`, a verdict, a reason."""

    by_place: dict[Place, set[str]] = field(default_factory=dict)
    flags: dict[str, list[str]] = field(default_factory=dict)  # by thread

    def note(self, topic: str, offset: int, what: str) -> None:
        self.by_place.setdefault((topic, offset), set()).add(what)


SOURCES: Mapping[str, Mapping[str, Any]] = {
    "ag-ui": {"name": "field", "protocol": "ag-ui"},
    "untimed": {"name": "untimed", "protocol": "ag-ui", "untimed": "arrival"},
    "agents": {
        "name": "agents",
        "protocol": "ag-ui",
        "options": {"agent_pointer": "/metadata/agentId"},
    },
    "a2a": {"name": "tasks", "protocol": "a2a"},
    "genkit": {"name": "turns", "protocol": "genkit", "options": {"agent": "trucks"}},
}


@dataclass(frozen=True)
class Site:
    """Topics of this test's own, with one partition each, and one worker's settings."""

    bootstrap: str
    app: str
    config: Path

    def topic(self, to: str) -> str:
        return f"{self.app}.{to}"

    async def send(self, sent: list[Sent]) -> dict[Place, Sent]:
        """All of them in order; where each one stands."""
        producer = AIOKafkaProducer(bootstrap_servers=self.bootstrap, acks="all")
        await producer.start()
        try:
            places = {}
            for one in sent:
                at = await producer.send_and_wait(
                    self.topic(one.to), one.value, one.key or b"k", timestamp_ms=one.timestamp
                )
                places[at.topic, at.offset] = one
            return places
        finally:
            await producer.stop()

    async def found(self) -> Found:
        """What stands on the topics of the bridge now."""
        found, client = Found(), {"bootstrap_servers": self.bootstrap}
        for record in await snapshot(client, self.topic("approvals")):
            if record.value and record.key and not record.key.startswith(b"__"):
                body = json.loads(record.value)
                asked = f"{body['thread_id']}/{body['interrupt_id']}"
                origin = body["origin"]
                found.note(origin["topic"], origin["offset"], f"asks {body['kind']} {asked}")
                found.flags[body["thread_id"]] = body["flags"]
        for record in await snapshot(client, self.topic("answer-verdicts")):
            body = json.loads(record.value or b"{}")
            origin = body["origin"]
            found.note(origin["topic"], origin["offset"], f"verdict {body['verdict']}")
        for record in await snapshot(client, self.topic("dead-letters")):
            headers = {name: value.decode() for name, value in record.headers}
            at = headers["bridge-origin-topic"], int(headers["bridge-origin-offset"])
            found.note(*at, f"letter {headers['bridge-reason']}")
        return found


@asynccontextmanager
async def working(bootstrap: str, folder: Path) -> AsyncIterator[Site]:
    """One worker that reads all sources of the field."""
    app = f"field-{uuid.uuid4().hex[:8]}"
    names = Topics.under(f"{app}.")
    inputs = {source: f"{app}.{source}" for source in SOURCES}
    await create_topics(bootstrap, [NewTopic(topic, 1, 1) for topic in inputs.values()])
    wanted = Wanted(names=names, inputs=tuple(inputs.values()), partitions=1, bootstrap=bootstrap)
    await topic_admin.create({"bootstrap_servers": bootstrap}, wanted)
    tables: list[Settings] = [{**table, "topic": inputs[to]} for to, table in SOURCES.items()]
    config = write_config(
        folder / "bridge.toml", bootstrap, names, tables, partitions=1, app_id=app
    )
    worker = Worker("worker", config, folder)
    worker.start()
    try:
        await worker.ready()
        yield Site(bootstrap, app, config)
        await worker.stop()
    finally:
        worker.kill()


def _is_so(finds: frozenset[str], what: set[str]) -> bool:
    """`*` stands for an id that only the bridge can make."""
    loosely = {f"{one.rpartition('/')[0]}/*" for one in what if one.startswith("asks ")}
    return finds in ({*what}, loosely)


async def test_everything_from_the_field_gets_its_right_result(
    bootstrap: str, tmp_path: Path
) -> None:
    """Nothing is read past that asks, nothing is refused that answers; each refusal says why."""
    now = datetime.now(UTC)
    sent = [*built.rows(now), *collected.rows(now)]
    sent.append(Sent("ag-ui", question("thr-last"), asks("thr-last")))
    async with working(bootstrap, tmp_path) as site:
        # A question is asked before its answer comes, so that a verdict is one at once.
        places = await site.send([one for one in sent if one.to != "answers"])
        await eventually(site.found, lambda found: "thr-last" in found.flags, within=60)
        places |= await site.send([one for one in sent if one.to == "answers"])
        waited = {place for place, one in places.items() if one.finds}
        await eventually(site.found, lambda found: waited <= found.by_place.keys(), within=60)
        found = await site.found()
    wrong = {
        place: (sorted(one.finds), sorted(found.by_place.get(place, set())))
        for place, one in places.items()
        if not _is_so(one.finds, found.by_place.get(place, set()))
    }
    assert not wrong
    failed = {thread for thread, flags in found.flags.items() if "run_failed" in flags}
    assert failed == {*built.FAILED, *(collected.FAILED if files.at_hand() else ())}
