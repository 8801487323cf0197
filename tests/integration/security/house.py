"""A deployment on the secured broker: its settings, what it may do, its worker, its commands."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from aiokafka.admin import NewTopic

from bridge.cli.main import main
from bridge.config import Config, load
from bridge.core.record import Record
from bridge.kafka import rights
from bridge.kafka.post import post
from bridge.kafka.reader import snapshot
from bridge.kafka.rights import Right
from tests.secured import Secured
from tests.topics import create_topics

SOURCE = "agents"
CANARY = "canary-payload-91c5"
"""Stands in every question and answer, and may stand in no line of a log."""


class House:
    """One slot is enough: what may be done with a topic is the same for all of them."""

    def __init__(self, secured: Secured, prefix: str, folder: Path) -> None:
        self.secured = secured
        self.prefix = prefix
        self.events = prefix + "events"
        self.folder = folder
        self._admin_settings = self.settings({"bootstrap_servers": secured.broker.bootstrap})

    def settings(self, kafka: Mapping[str, str], level: str = "info") -> Path:
        """A file with these settings of `[kafka]`; a password goes into a file of its own."""
        told = dict(kafka)
        if password := told.pop("sasl_plain_password", None):
            secret = self.folder / f"password-{time.monotonic_ns()}"
            secret.write_text(password, encoding="utf-8")
            told["sasl_plain_password_file"] = str(secret)
        lines = [f"{name} = {json.dumps(value)}" for name, value in told.items()]
        path = self.folder / f"bridge-{time.monotonic_ns()}.toml"
        path.write_text(
            "\n".join(
                [
                    "[kafka]",
                    *lines,
                    f'[topics]\nprefix = "{self.prefix}"\npartitions = 1',
                    f'[[sources]]\nname = "{SOURCE}"\ntopic = "{self.events}"',
                    f'[http]\nport = 0\n[log]\nlevel = "{level}"\nformat = "json"',
                ]
            ),
            encoding="utf-8",
        )
        return path

    @cached_property
    def config(self) -> Config:
        return load(self.settings(self.secured.login()))

    @cached_property
    def rights(self) -> tuple[Right, ...]:
        """The least that a worker needs."""
        return rights.of_worker(self.config).needed

    def create_topics(self) -> None:
        asyncio.run(create_topics(self.secured.broker.bootstrap, [NewTopic(self.events, 1, 1)]))
        assert self.command("topics", "create", settings=self._admin_settings) == 0

    def command(self, *arguments: str, settings: Path | None = None) -> int:
        """A command in this process; its exit code."""
        chosen = settings or self.settings(self.secured.login())
        return main([*arguments, "--config", str(chosen)])

    def spawn(
        self, *arguments: str, settings: Path, **options: Any
    ) -> subprocess.CompletedProcess[bytes]:
        """A command in a process of its own."""
        command = [sys.executable, "-m", "bridge.cli.main", *arguments, "--config", str(settings)]
        return subprocess.run(command, check=False, timeout=60, **options)

    def ask(self, thread: str) -> None:
        """A run of this thread ends with a question."""
        question = {"id": "int-1", "reason": "tool_call", "message": CANARY}
        event = {
            "type": "RUN_FINISHED",
            "threadId": thread,
            "runId": "run-1",
            "outcome": {"type": "interrupt", "interrupts": [question]},
        }
        client = {"bootstrap_servers": self.secured.broker.bootstrap}
        asyncio.run(post(client, self.events, thread.encode(), json.dumps(event).encode(), 0))

    def written(self, role: str) -> list[Record]:
        """What readers of committed records find on a topic."""
        client = {"bootstrap_servers": self.secured.broker.bootstrap}
        return asyncio.run(snapshot(client, self.prefix + role))

    def approvals(self) -> list[dict[str, Any]]:
        return [json.loads(record.value) for record in self.written("approvals") if record.value]

    @contextmanager
    def worker(self, settings: Path) -> Iterator[RunningWorker]:
        """`interrupt-bridge run` until the block ends."""
        log = self.folder / f"worker-{time.monotonic_ns()}.log"
        command = [sys.executable, "-m", "bridge.cli.main", "run", "--config", str(settings)]
        with log.open("wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, env=os.environ)
        running = RunningWorker(process, log)
        try:
            yield running
        finally:
            running.stop()


class RunningWorker:
    """A process, what it logs, and what it says of itself."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self.log = log

    def text(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text().splitlines() if line.startswith("{")]

    def says(self, *parts: str, within: float = 60) -> None:
        """Until a line of the log holds all of these."""
        wait(lambda: any(all(part in line for part in parts) for line in self.messages()), within)

    def messages(self) -> list[str]:
        return [line["message"] for line in self.lines()]

    def ready(self) -> tuple[bool, str]:
        """What /readyz answers."""
        metrics = next((line["url"] for line in self.lines() if "url" in line), None)
        if metrics is None:
            return False, "not heard of yet"
        url = metrics.replace("/metrics", "/readyz")
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return True, answer.read().decode()
        except urllib.error.HTTPError as error:
            return False, error.read().decode()
        except OSError as error:
            return False, str(error)

    def serves(self, within: float = 60) -> None:
        wait(lambda: self.ready()[0] and '"serving"' in self.ready()[1], within)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


def wait(holds: Callable[[], object], within: float = 60) -> None:
    """Look ten times a second; raises TimeoutError."""
    deadline = time.monotonic() + within
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {within:g} s")
        time.sleep(0.1)
