"""What a run told outlives the worker that read it: killed before its end, or before the answer."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiokafka.admin import NewTopic

from bridge.kafka.post import post
from bridge.kafka.reader import snapshot
from tests.topics import create_topics

MESSAGES = b'[{"id":"m-1","role":"user","content":"Ann","n":1e2}]'
NAMES = b'"threadId":"t-1","runId":"r-1"'
ASKS = b'{"type":"interrupt","interrupts":[{"id":"i-1","reason":"tool_call"}]}'
EVENTS = (
    b'{"type":"RUN_STARTED",%s}' % NAMES,
    b'{"type":"MESSAGES_SNAPSHOT","messages":%s}' % MESSAGES,
    b'{"type":"RUN_FINISHED",%s,"outcome":%s}' % (NAMES, ASKS),
)


class Cluster:
    """One source, with these settings of its own, on topics of this test's own."""

    def __init__(self, bootstrap: str, prefix: str, folder: Path, source: str) -> None:
        self.client = {"bootstrap_servers": bootstrap}
        self.prefix = prefix
        self._settings = folder / "bridge.toml"
        self._settings.write_text(
            f'[kafka]\nbootstrap_servers = "{bootstrap}"\n'
            f'[http]\nport = 0\n[topics]\nprefix = "{prefix}"\npartitions = 1\n'
            f'[[sources]]\nname = "support"\ntopic = "{prefix}events"\n{source}\n',
            encoding="utf-8",
        )
        self._environment = {k: v for k, v in os.environ.items() if not k.startswith("BRIDGE_")}

    def starts(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "bridge.cli.main", *arguments]
        settings = ["--config", str(self._settings)]
        return subprocess.Popen([*command, *settings], env=self._environment)

    @contextmanager
    def worker(self) -> Iterator[None]:
        """A worker that is killed in the end."""
        process = self.starts("run")
        try:
            yield
        finally:
            process.kill()
            process.wait(20)

    def sends(self, topic: str, value: bytes) -> None:
        asyncio.run(post(self.client, self.prefix + topic, b"t-1", value, 0))

    def awaits(self, topic: str, key: bytes = b"") -> bytes:
        """The newest record of a topic whose key begins so, within a minute."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            found = asyncio.run(snapshot(self.client, self.prefix + topic))
            values = [r.value for r in found if r.value and (r.key or b"").startswith(key)]
            if values:
                return values[-1]
            time.sleep(0.3)
        raise AssertionError(f"nothing came on {topic}")


def test_a_killed_workers_successor_resumes_with_the_conversation(
    bootstrap: str, unique: Callable[[str], str], tmp_path: Path
) -> None:
    """What the run told stands in the state, and goes out as it was written."""
    cluster = Cluster(bootstrap, unique(""), tmp_path, "continuity = true")
    asyncio.run(create_topics(bootstrap, [NewTopic(f"{cluster.prefix}events", 1, 1)]))
    assert cluster.starts("topics", "create").wait(120) == 0
    with cluster.worker():
        for event in EVENTS:
            cluster.sends("events", event)
        approval = json.loads(cluster.awaits("approvals"))
    answer: dict[str, Any] = {"approval_id": approval["approval_id"], "status": "resolved"}
    cluster.sends("answers", json.dumps({**answer, "payload": True}).encode())
    with cluster.worker():
        command = cluster.awaits("resume-commands")
    assert b'"messages":' + MESSAGES in command
    assert json.loads(command)["native"]["notes"] == []


def test_a_killed_workers_successor_asks_what_the_run_told(
    bootstrap: str, unique: Callable[[str], str], tmp_path: Path
) -> None:
    """As LangGraph asks by default: the worker dies between the question and the end of its run."""
    cluster = Cluster(bootstrap, unique(""), tmp_path, "options = {legacy_refusal = false}")
    asyncio.run(create_topics(bootstrap, [NewTopic(f"{cluster.prefix}events", 1, 1)]))
    assert cluster.starts("topics", "create").wait(120) == 0
    told = {"type": "CUSTOM", "name": "on_interrupt", "value": "Deploy?", "rawEvent": {"id": "i-1"}}
    with cluster.worker():
        cluster.sends("events", json.dumps(told).encode())
        cluster.awaits("state", b"carry/")
    cluster.sends("events", b'{"type":"RUN_FINISHED",%s}' % NAMES)
    with cluster.worker():
        approval = json.loads(cluster.awaits("approvals"))
        assert (approval["message"], approval["interrupt_id"]) == ("Deploy?", "i-1")
        answer = {"approval_id": approval["approval_id"], "status": "cancelled"}
        cluster.sends("answers", json.dumps(answer).encode())
        command = json.loads(cluster.awaits("resume-commands"))
    assert command["native"]["body"]["forwardedProps"] == {"command": {"resume": False}}
