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
from functools import partial
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

    def answers(self, approval: dict[str, Any], **members: Any) -> None:
        answer = {"approval_id": approval["approval_id"], "status": "resolved", **members}
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
    cluster.answers(approval, payload={"branch": "main"})
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


def _is_about(interrupt_id: str, approval: dict[str, Any]) -> bool:
    return bool(approval["interrupt_id"] == interrupt_id)


def test_kagents_tools_are_decided_in_one_message(cluster: Cluster) -> None:
    """Each is an approval; what is cancelled is rejected, and the task goes on."""
    uri = "https://kagent.dev/extensions/hitl/v1"
    tools = [{"id": f"t-{n}", "call_id": f"c-{n}", "name": "wipe", "args": {}} for n in (1, 2)]
    request = {"type": "tool_approval_request", "hint": "Two changes", "tools": tools}
    asks = status("INPUT_REQUIRED", text(), metadata={uri: request}, task="task-3")
    asks["statusUpdate"]["status"]["message"]["extensions"] = [uri]
    cluster.tells(asks)
    for number, answer in ((1, {"payload": {"approved": True}}), (2, {"status": "cancelled"})):
        approval = cluster.awaits("approvals", partial(_is_about, f"t-{number}"))
        cluster.answers(approval, **answer)
    command = cluster.awaits("resume-commands", lambda one: one["thread_id"] == "task-3")
    assert command["native"]["headers"]["A2A-Extensions"] == uri
    message = command["native"]["body"]["params"]["message"]
    assert message["metadata"][uri]["approvals"] == [
        {"id": "t-1", "approved": True},
        {"id": "t-2", "approved": False, "rejection_reason": "not approved: cancelled"},
    ]


def test_a_task_told_on_two_ways_within_a_millisecond_stays_asked(cluster: Cluster) -> None:
    """Its response and its stream; the question is answered afterwards."""
    at = "2026-10-06T09:00:05.484Z"
    asking = status("INPUT_REQUIRED", text(), message_id="q9", task="task-4", at=at)
    before = [status(state, task="task-4", at=at) for state in ("SUBMITTED", "WORKING")]
    cluster.tells(asking, *before, asking)
    approval = cluster.awaits("approvals", lambda one: one["thread_id"] == "task-4")
    cluster.answers(approval, payload="main")
    command = cluster.awaits("resume-commands", lambda one: one["thread_id"] == "task-4")
    assert command["native"]["body"]["params"]["message"]["parts"] == [{"text": "main"}]
    assert cluster.awaits("approvals", lambda one: one["thread_id"] == "task-4")["run_outcome"]
