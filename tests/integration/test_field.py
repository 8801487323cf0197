"""Inputs from the field on real topics, through a real worker: each gets its right result.

A row is one file, the records it becomes, and what has to be found of each record afterwards. What
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

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import NewTopic

from bridge.kafka import topic_admin
from bridge.kafka.reader import snapshot
from bridge.kafka.topics import Wanted
from bridge.records.topics import Topics
from tests import field as vectors
from tests.chaos.workers import Settings, Worker, write_config
from tests.integration.kafka.deployment import eventually
from tests.topics import create_topics

Place = tuple[str, int]  # topic and offset; every topic here has one partition


@dataclass(frozen=True)
class Sent:
    """One record as it goes to a topic, and what has to come of it."""

    to: str  # a source, or `answers`
    value: bytes | None
    finds: frozenset[str]
    key: bytes | None = None
    timestamp: int | None = None


@dataclass
class Found:
    """What came of each record, by its place: `asks KIND THREAD/INTERRUPT`, a verdict, a reason."""

    by_place: dict[Place, set[str]] = field(default_factory=dict)
    flags: dict[str, list[str]] = field(default_factory=dict)  # by thread

    def note(self, topic: str, offset: int, what: str) -> None:
        self.by_place.setdefault((topic, offset), set()).add(what)


NOTHING: frozenset[str] = frozenset()
QUESTION = {"id": "ask-1", "reason": "tool_call"}


def told(*finds: str) -> frozenset[str]:
    return frozenset(finds)


def asks(thread: str, *interrupts: str, kind: str = "input") -> frozenset[str]:
    return told(*(f"asks {kind} {thread}/{one}" for one in interrupts or ("ask-1",)))


def question(thread: str) -> bytes:
    """A run of AG-UI that asks what the answers of the field answer."""
    outcome = {"type": "interrupt", "interrupts": [QUESTION]}
    event = {"type": "RUN_FINISHED", "threadId": thread, "runId": "run-1", "outcome": outcome}
    return json.dumps(event).encode()


def wrapped(now: datetime) -> list[Sent]:
    """k01, k02, k04, k09: events and answers in what others put around them."""
    files = {
        "k01_cloudevent_around_agui_own_type.json": ("ag-ui", asks("thr-42")),
        "k01_cloudevent_around_a2a_knative.json": ("a2a", asks("task-9", "m-1")),
        "k02_outbox_schema_payload_around_agui.json": ("ag-ui", asks("thr-43")),
        "k02_outbox_schema_payload_around_a2a.json": ("a2a", asks("task-10", "m-1")),
        "k04_confluent_prefix_agui.bin": ("ag-ui", asks("thr-45")),
        "k09_sse_frame_agui.txt": ("ag-ui", asks("thr-50")),
        "k09_sse_frame_a2a.txt": ("a2a", asks("task-12", "m-1")),
    }
    sent = [Sent(to, vectors.value(name, now), finds) for name, (to, finds) in files.items()]
    for name, session in (("k01_cloudevent_around", "sess-3"), ("k02_outbox", "sess-4")):
        part = "_schema_payload_around" if name.startswith("k02") else ""
        value = vectors.value(f"{name}{part}_genkit.json", now)
        sent.append(Sent("genkit", value, told(f"asks input {session}/*")))
    dapr = vectors.value("k01_cloudevent_around_agui_dapr.json", now)
    batch = b"[%b,%b]" % (dapr, dapr)
    avro = b"\x00\x00\x00\x00\x07\x02\x10avro"
    return [
        *sent,
        Sent("ag-ui", dapr, asks("thr-41")),
        *(Sent("ag-ui", value, told("letter framing")) for value in (batch, avro)),
        Sent("ag-ui", b"data: {}\n\ndata: {}\n\n", told("letter framing")),
    ]


def answered(now: datetime) -> list[Sent]:
    """a01, and the wrapped answers of k01 and k04: each to a question of its own."""
    words = ["accepted"] * 7 + ["malformed", "malformed", "invalid_or_accepted"]
    more = ["accepted", "by approval id", "accepted", "accepted", "malformed"]
    given = [
        *zip(vectors.lines("a01_answers_by_serializers.jsonl", now), words, strict=True),
        *zip(vectors.lines("a01_answers_by_serializers_2.jsonl", now), more, strict=True),
        (vectors.value("k01_cloudevent_around_answer_dapr.json", now), "accepted"),
        (vectors.value("k04_confluent_prefix_answer.bin", now), "accepted"),
    ]
    sent = []
    for number, (value, word) in enumerate(given):
        plain = _without_comment(value)
        if word == "by approval id":  # it names the question of thr-41 itself
            sent.append(Sent("answers", plain, told("verdict accepted")))
            continue
        thread = f"thr-41-{number}"
        sent.append(Sent("ag-ui", question(thread), asks(thread)))
        verdict = "accepted" if word == "invalid_or_accepted" else word
        finds = told(f"verdict {verdict}", *(["letter malformed"] if word == "malformed" else []))
        sent.append(Sent("answers", plain.replace(b"thr-41", thread.encode()), finds))
    return sent


def _without_comment(line: bytes) -> bytes:
    """The line without the member `_`, which says in its file who writes so."""
    try:
        members = json.loads(line)
    except ValueError:
        return line
    return json.dumps({name: one for name, one in members.items() if name != "_"}).encode()


def erased(_now: datetime) -> list[Sent]:
    """k05: nulls under the keys of conversations."""
    return [
        Sent(
            "ag-ui",
            None if one["value"] is None else json.dumps(one["value"]).encode(),
            NOTHING if one["value"] is None else asks("thr-46"),
            one["key"].encode(),
        )
        for one in vectors.document("k05_tombstones.json")["records"]
    ]


def stamped(_now: datetime) -> list[Sent]:
    """k06: the same question with timestamps that are none, refused and taken as of arrival."""
    document = vectors.document("k06_record_timestamps.json")
    value = json.dumps(document["value"]).encode()
    stamps = [at for at in document["timestamps"].values() if at >= 0]  # this client sends no other
    refused = [Sent("ag-ui", value, told("letter no_timestamp"), None, at) for at in stamps]
    return [*refused, Sent("untimed", value, asks("thr-47"), None, stamps[0])]


def keyed(_now: datetime) -> list[Sent]:
    """k02: keys as Connect writes them, on errors that name no thread."""
    document = vectors.document("k02_outbox_key_is_json.json")
    error = json.dumps(document["value"]).encode()
    sent = []
    for number, key in enumerate(document["keys"]):
        thread = f"thr-key-{number}"
        sent.append(Sent("ag-ui", question(thread), asks(thread)))
        sent.append(Sent("ag-ui", error, NOTHING, key.replace("thr-41", thread).encode()))
    return sent


def frameworks(now: datetime) -> list[Sent]:
    """p01, p03, p04, p05, p12: what agents write of themselves."""
    _, asked, *_ = vectors.lines("p01_dotnet_explicit_nulls.jsonl", now)
    silent = vectors.lines("p03_no_outcome_but_raw_asks.jsonl", now)
    ends = vectors.lines("p04_two_ends_of_one_run.jsonl", now)
    agents = vectors.lines("p05_two_agents_one_thread.jsonl", now)
    return [
        Sent("ag-ui", asked, asks("thr-51")),
        *(Sent("ag-ui", value, NOTHING, b"thr-52") for value in silent),
        Sent("ag-ui", ends[0], asks("thr-53"), b"thr-53"),
        *(Sent("ag-ui", value, NOTHING, b"thr-53") for value in ends[1:]),
        Sent("agents", agents[0], asks("thr-54", "ask-triage")),
        Sent("agents", agents[1], asks("thr-54", "ask-billing")),
        Sent("genkit", vectors.value("p12_genkit_status_done.json", now), told("letter " + DONE)),
    ]


def tasks(now: datetime) -> list[Sent]:
    """p07 to p10: dialects of A2A."""
    whole = {
        "p07_kagent_hitl_v1_two_tools.json": asks("task-14", "t-1", "t-2"),
        "p07_kagent_hitl_v1_ask_user.json": asks("task-15", "q-1/0", "q-1/1"),
        "p08_credential_request_as_input_required.json": asks(
            "task-16", "m-16", kind="authorization"
        ),
        "p09_a2a_snake_case_task.json": asks("task-17", "m-17"),
        "p09_a2a_snake_case_status_update.json": asks("task-18", "m-18"),
        "p09_a2a_snake_case_moved_on.json": NOTHING,
    }
    states = vectors.lines("p10_a2a_state_spellings.jsonl", now)
    unknown = told("letter unsupported")
    finds = [asks("task-20", "m-task-20"), NOTHING, asks("task-21", "m-task-21")]
    finds += [asks("task-22", "m-task-22"), unknown, unknown]
    return [
        *(Sent("a2a", vectors.value(name, now), found) for name, found in whole.items()),
        *(Sent("a2a", value, found) for value, found in zip(states, finds, strict=True)),
    ]


DONE = "unknown_outcome"
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
    made = (wrapped, answered, erased, stamped, keyed, frameworks, tasks)
    sent = [one for rows in made for one in rows(now)]
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
    failed = [thread for thread, flags in found.flags.items() if "run_failed" in flags]
    assert sorted(failed) == ["thr-53", "thr-key-0", "thr-key-1", "thr-key-2"]


@pytest.mark.parametrize("name", ["k01_cloudevent_around_agui_dapr.json"])
def test_instants_are_moved_to_the_present(name: str) -> None:
    """Else all of them would be too old in a week."""
    moved = vectors.value(name, datetime(2030, 1, 1, tzinfo=UTC))
    assert b"2026-11-30" not in moved
    assert json.loads(moved)["time"].startswith("2029-12-31T23:4")
