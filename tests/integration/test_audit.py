"""`audit` on real topics: a clean log is called so, and a broken promise is named with place."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bridge.cli.main import main
from bridge.config import Config, load
from bridge.core.ids import home_slot
from bridge.kafka.post import post
from bridge.kafka.reader import snapshot
from bridge.kafka.worker import Worker
from tests.integration.kafka.deployment import eventually
from tests.integration.settled import settle_in

SLOTS = 2
THREADS = ("thread-1", "thread-2", "thread-3")


@dataclass
class Site:
    """A deployment of the test's own, and hands on its topics."""

    settings: Path
    config: Config

    async def write(self, role: str, body: Any, thread: str = THREADS[0]) -> None:
        """One record at the home of its thread; `role` of the settings, or `input`."""
        source = self.config.sources[0]
        topic = source.topic_names[0] if role == "input" else self.config.topics.names()[role]
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        client = self.config.kafka.client_kwargs()
        await post(client, topic, thread.encode(), text, home_slot(thread, SLOTS))

    async def read(self, role: str) -> list[dict[str, Any]]:
        client = self.config.kafka.client_kwargs()
        topic = self.config.topics.names()[role]
        records = await snapshot(client, topic)
        return [json.loads(record.value) for record in records if record.value is not None]

    async def audit(self, *more: str) -> int:
        """The exit code, once all is older than `--settle`."""
        await asyncio.sleep(1.1)
        words = ["audit", "--settle", "1s", "--config", str(self.settings), *more]
        return await asyncio.to_thread(main, words)


@pytest.fixture
async def site(
    bootstrap: str, unique: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Site:
    settings = await settle_in(bootstrap, unique, tmp_path, monkeypatch, SLOTS)
    return Site(settings, load(settings))


def asks(thread: str) -> dict[str, Any]:
    outcome = {"type": "interrupt", "interrupts": [{"id": "int-1", "reason": "tool_call"}]}
    return {"type": "RUN_FINISHED", "threadId": thread, "runId": "run-1", "outcome": outcome}


async def work(site: Site) -> None:
    """Two runs are answered, one waits, one record is bad; one answer comes in an envelope."""
    worker = Worker(site.config)
    running = asyncio.create_task(worker.run())
    try:
        for thread in THREADS:
            await site.write("input", asks(thread), thread)
        await site.write("input", b"{not json")
        for thread in THREADS[:2]:
            named = {"source": "agents", "thread_id": thread, "run_id": "run-1"}
            answer = {**named, "interrupt_id": "int-1", "status": "resolved", "payload": True}
            cloud = {"specversion": "1.0", "id": "1", "source": "/ui", "type": "answer"}
            wrapped = answer if thread == THREADS[0] else cloud | {"data": answer}
            await site.write("answers", wrapped, thread)
        await eventually(lambda: _ended(site), bool, within=60)
    finally:
        worker.stop()
        assert await running == 0


async def _ended(site: Site) -> bool:
    """All that came is worked on: the bad record stands before the answers of its partition."""
    return len(await site.read("resume-commands")) == 2 and len(await site.read("approvals")) == 5


async def test_what_a_worker_leaves_breaks_no_promise(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """All is judged, and in a pipe every line is plain; an earlier end leaves runs unjudged."""
    await work(site)
    assert await site.audit() == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[-1] == "no promise is broken", said.out
    assert "I1  holds" in said.out
    assert "(3 runs, 2 commands)" in said.out
    assert "I5  unseen" in said.out
    assert "\r" not in said.out + said.err
    assert "\x1b" not in said.out + said.err

    assert await site.audit("--thread", THREADS[1], "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["thread"], found["judged"]["runs"], found["judged"]["answers"]) == (
        *(THREADS[1],),
        *(1, 1),
    )
    assert found["records"] == 6  # event, approval twice, answer, verdict, command

    assert await site.audit("--since", "1ms", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["complete_since"] is not None
    assert found["judged"].get("runs", 0) == 0


async def test_a_broken_promise_is_named_with_its_records(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second command under another id, and an accepted answer whose verdict nobody wrote."""
    await work(site)
    [command] = [c for c in await site.read("resume-commands") if c["thread_id"] == THREADS[0]]
    await site.write("resume-commands", command | {"command_id": "other"})
    assert await site.audit("--json") == 4
    found = json.loads(capsys.readouterr().out)
    broken = {each["name"]: each for each in found["invariants"] if each["violations"]}
    assert "I1" in broken
    assert broken["I1"]["holds"] is False
    messages = {violation["message"] for violation in broken["I1"]["violations"]}
    assert "2 resume commands for one run" in messages
    topic = site.config.topics.names()["resume-commands"]
    places = [place for each in broken["I1"]["violations"] for place in each["places"]]
    at = {"topic": topic, "partition": home_slot(THREADS[0], SLOTS)}
    assert any(place.items() >= at.items() for place in places), places

    assert await site.audit() == 4
    said = capsys.readouterr().out
    assert "I1  BROKEN" in said
    assert f"{topic}/{home_slot(THREADS[0], SLOTS)}/" in said
    assert await site.audit("--thread", THREADS[0]) == 4
    assert await site.audit("--thread", THREADS[2]) == 0, "another thread's"


async def test_what_is_in_flight_or_unread_is_no_breach(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a worker nothing is due; a younger record than `--settle` is not judged."""
    await work(site)
    await site.write("input", asks("thread-9"), "thread-9")
    [command] = [c for c in await site.read("resume-commands") if c["thread_id"] == THREADS[0]]
    await site.write("resume-commands", command)
    words = ["audit", "--config", str(site.settings), "--json", "--settle", "10m"]
    assert await asyncio.to_thread(main, words) == 0
    found = json.loads(capsys.readouterr().out)
    why = {(each["what"], each["why"]): each["count"] for each in found["not_judged"]}
    assert why["runs", "in_flight"] == 3
    assert why["events", "not_read_yet"] == 1


async def test_an_answer_without_its_verdict_is_seen(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """A worker that passes an answer on without a word is found out by its positions."""
    await work(site)
    answer = {"approval_id": (await site.read("approvals"))[0]["approval_id"], "status": "oops"}
    thread = (await site.read("approvals"))[0]["thread_id"]
    await site.write("answers", answer, thread)
    skip = ["positions", "skip", "--slot", str(home_slot(thread, SLOTS)), "--to", "latest"]
    skip += ["--topic", site.config.topics.names()["answers"], "--yes"]
    assert await asyncio.to_thread(main, [*skip, "--config", str(site.settings)]) == 0
    capsys.readouterr()
    assert await site.audit("--json") == 4
    found = json.loads(capsys.readouterr().out)
    said = {v["message"] for each in found["invariants"] for v in each["violations"]}
    assert said == {"an answer was ignored silently", "a bad record was dropped silently"}


async def test_too_much_for_memory_and_topics_that_are_not_there(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both say what to do; the first is a matter of usage, the second of the cluster."""
    await work(site)
    assert await site.audit("--max-records", "3") == 2
    assert "--thread" in capsys.readouterr().err
    text = site.settings.read_text(encoding="utf-8")
    site.settings.write_text(text.replace('topic = "', 'topic = "no-such-'), encoding="utf-8")
    assert await site.audit() == 3
    assert "topics check" in capsys.readouterr().err
