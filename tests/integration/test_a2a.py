"""A2A tasks on real topics, through a real worker, to the requests that an executor sends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin import NewTopic

from bridge.kafka.post import post
from bridge.kafka.reader import snapshot
from tests.topics import create_topics
from tests.unit.protocols.a2a_events import hybrid, interrupt_artifact, status, text

INTERRUPT = "a" * 32


class Cluster:
    """One source of A2A agents on topics of this test's own."""

    def __init__(self, bootstrap: str, prefix: str, folder: Path) -> None:
        self.client = {"bootstrap_servers": bootstrap}
        self.prefix = prefix
        self.settings = folder / "bridge.toml"
        self.settings.write_text(
            f'[kafka]\nbootstrap_servers = "{bootstrap}"\n'
            f'[http]\nport = 0\n[topics]\nprefix = "{prefix}"\npartitions = 3\n'
            f'[[sources]]\nname = "reviewers"\nprotocol = "a2a"\ntopic = "{prefix}tasks"\n'
            '[sources.options]\nagent = "reviewer"\nendpoint = "https://agent.example/a2a"\n',
            encoding="utf-8",
        )

    def command(self, *arguments: str) -> list[str]:
        command = [sys.executable, "-m", "bridge.cli.main", *arguments]
        return [*command, "--config", str(self.settings)]

    def tells(self, *events: Any) -> None:
        """Under a key of nobody's, so that records take a hop to the home of their task."""
        for event in events:
            value = json.dumps(event).encode()
            asyncio.run(post(self.client, f"{self.prefix}tasks", b"stream-7", value, 0))

    def answers(self, approval: dict[str, Any], payload: Any) -> None:
        answer = {"approval_id": approval["approval_id"], "status": "resolved", "payload": payload}
        topic = f"{self.prefix}answers"
        asyncio.run(post(self.client, topic, b"k", json.dumps(answer).encode(), 0))

    def awaits(self, role: str, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The newest record of a topic that is wanted, within a minute."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            records = asyncio.run(snapshot(self.client, self.prefix + role))
            values = [json.loads(record.value) for record in records if record.value]
            for value in reversed(values):
                if wanted(value):
                    return dict(value)
            time.sleep(0.3)
        raise AssertionError(f"nothing of the kind came on {role}")


@pytest.fixture
def cluster(bootstrap: str, unique: Callable[[str], str], tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(bootstrap, unique(""), tmp_path)
    asyncio.run(create_topics(bootstrap, [NewTopic(f"{made.prefix}tasks", 2, 1)]))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("BRIDGE_")}
    subprocess.run(made.command("topics", "create"), check=True, env=environment, timeout=120)
    with _worker(made, environment):
        yield made


@contextmanager
def _worker(cluster: Cluster, environment: dict[str, str]) -> Iterator[None]:
    worker = subprocess.Popen(cluster.command("run"), env=environment)
    try:
        yield
    finally:
        worker.send_signal(signal.SIGTERM)
        try:
            assert worker.wait(60) == 0
        finally:
            worker.kill()


def test_a_task_is_asked_answered_and_given_up(cluster: Cluster) -> None:
    """LangGraph's artifact and status make one question; an authorization closes by itself."""
    cluster.tells(interrupt_artifact(INTERRUPT), hybrid())
    approval = cluster.awaits("approvals", lambda value: value["status"] == "pending")
    assert (approval["interrupt_id"], approval["scope"]) == (INTERRUPT, "reviewer")
    cluster.answers(approval, {"branch": "main"})
    command = cluster.awaits("resume-commands", lambda _: True)
    native = command["native"]
    assert (native["method"], native["endpoint"]) == ("SendMessage", "https://agent.example/a2a")
    (part,) = native["body"]["params"]["message"]["parts"]
    assert part == {"data": {"resume": {INTERRUPT: {"branch": "main"}}}}

    asks = status("AUTH_REQUIRED", text("Go to https://auth.example/x"), task="task-2")
    cluster.tells(asks)
    opened = cluster.awaits("approvals", lambda value: value["kind"] == "authorization")
    assert opened["authorize_at"] == "https://auth.example/x"
    cluster.tells(status("WORKING", task="task-2", at="2026-10-06T09:00:07Z"))
    closed = cluster.awaits("approvals", lambda value: value["status"] == "withdrawn")
    assert (closed["thread_id"], closed["closed_reason"]) == ("task-2", "moved_on")
