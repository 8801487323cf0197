"""Worker processes for fault tests: started, ended, killed and paused by their process id.

Each worker has a directory with its settings and one log for all its lives.
"""

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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bridge.records.topics import ROLES

READY_SECONDS = 60.0
STOP_SECONDS = 30.0  # above the worker's own shutdown deadline of 20 s

WORKER = (sys.executable, "-m", "bridge.cli.main")
Setting = str | int | float | bool | list[str]
Settings = Mapping[str, Any]  # with tables inside


class WorkerError(AssertionError):
    """A worker did not do what a test relies on; the end of its log is in the message."""


def write_config(
    path: Path,
    bootstrap: str,
    names: Mapping[str, str],
    sources: Mapping[str, str] | Sequence[Settings],
    *,
    partitions: int,
    app_id: str,
    sections: Mapping[str, Mapping[str, Setting]] | None = None,
) -> Path:
    """A settings file. `names` is role to topic; `sources` are the sources' tables, or for AG-UI
    source name to input topic.

    `sections` adds to (or replaces) single keys: {"worker": {"takeover_grace": "2s"}}.
    """
    tables: dict[str, dict[str, Setting]] = {
        "": {"app_id": app_id},
        "kafka": {"bootstrap_servers": bootstrap},
        "topics": {
            "partitions": partitions,
            **{role.replace("-", "_"): topic for role, topic in names.items() if role in ROLES},
        },
        "http": {"port": 0},
        "log": {"format": "json"},
    }
    for name, settings in (sections or {}).items():
        tables.setdefault(name, {}).update(settings)
    text = "\n".join(_table(f"[{name}]" if name else "", table) for name, table in tables.items())
    for table in _source_tables(sources):
        text += "\n" + _table("[[sources]]", table)
    path.write_text(text, encoding="utf-8")
    return path


class Worker:
    """One worker that may live several times. `url` is known once it is ready."""

    def __init__(
        self,
        name: str,
        config: Path,
        directory: Path,
        env: Mapping[str, str] | None = None,
        command: Sequence[str] = WORKER,
    ) -> None:
        self.name = name
        self.log = directory / f"{name}.log"
        self._command = [*command, "run", "--config", str(config)]
        self._env = {**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})}
        self.besides: Mapping[str, str] = {}  # variables of its next lives
        self.turns = 0  # of its clock
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0
        self.lives = 0
        self.exit_codes: list[int] = []

    @property
    def alive(self) -> bool:
        """Whether the process runs (or is paused); notes the exit code of one that ended."""
        if self._process is not None and self._process.poll() is not None:
            self.exit_codes.append(self._process.returncode)
            self._process = None
        return self._process is not None

    @property
    def pid(self) -> int:
        return self._running().pid

    def start(self) -> None:
        """Start a new life; raises WorkerError if the last one has not ended."""
        if self.alive:
            raise WorkerError(f"{self.name} runs already")
        self._log_start = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**self._env, **self.besides},
                start_new_session=True,
            )
        self.lives += 1

    def kill(self) -> None:
        """SIGKILL, and reap. A worker that has ended by itself is left alone."""
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
        _ = self.alive

    def pause(self) -> None:
        """SIGSTOP."""
        self._signal(signal.SIGSTOP)

    def cont(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    async def stop(self, timeout: float = STOP_SECONDS) -> int:
        """SIGTERM and the exit code; a worker that outlives `timeout` is killed (code -9)."""
        if not self.alive:
            return self.exit_codes[-1] if self.exit_codes else 0
        self.cont()
        self._signal(signal.SIGTERM)
        deadline = time.monotonic() + timeout
        while self.alive:
            if time.monotonic() > deadline:
                self.kill()
                break
            await asyncio.sleep(0.05)
        return self.exit_codes[-1]

    async def ended(self, timeout: float = READY_SECONDS) -> int:
        """The exit code of a worker that ends by itself, or by its own rig. Raises WorkerError."""
        deadline = time.monotonic() + timeout
        while self.alive:
            if time.monotonic() > deadline:
                raise WorkerError(f"{self.name} lives after {timeout:.0f} s\n{self.tail()}")
            await asyncio.sleep(0.1)
        return self.exit_codes[-1]

    async def ready(self, timeout: float = READY_SECONDS) -> str:
        """Wait until /readyz says so; returns the base URL. Raises WorkerError."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if not self.alive:
                raise WorkerError(f"{self.name} ended, exit {self.exit_codes[-1:]}\n{self.tail()}")
            url = self.url()
            if url is not None and await asyncio.to_thread(_status, f"{url}/readyz") == 200:
                return url
            await asyncio.sleep(0.1)
        raise WorkerError(f"{self.name} is not ready after {timeout:.0f} s\n{self.tail()}")

    async def is_ready(self) -> bool:
        """What /readyz says now."""
        return await asyncio.to_thread(_status, f"{self.url()}/readyz") == 200

    async def unready(self, timeout: float) -> None:
        """Wait until /readyz says that something is missing. Raises WorkerError."""
        deadline = time.monotonic() + timeout
        while await self.is_ready():
            if time.monotonic() > deadline:
                raise WorkerError(f"{self.name} is still ready\n{self.tail()}")
            await asyncio.sleep(0.2)

    async def is_healthy(self) -> bool:
        """What /healthz says now."""
        return await asyncio.to_thread(_status, f"{self.url()}/healthz") == 200

    async def readiness(self) -> dict[str, object]:
        """The body of /readyz, whatever its status."""
        text = await asyncio.to_thread(_body, f"{self.url()}/readyz")
        return _parsed(text.encode()) or {}

    async def metrics(self) -> str:
        """The exposition of /metrics."""
        return await asyncio.to_thread(_body, f"{self.url()}/metrics")

    def url(self) -> str | None:
        """Where this life serves metrics and health, as its log tells."""
        for line in self.lines():
            url = line.get("url")
            if isinstance(url, str) and url.endswith("/metrics"):
                return url.removesuffix("/metrics")
        return None

    def lines(self) -> list[dict[str, object]]:
        """The JSON log lines of this life; a line still being written is left out."""
        if not self.log.exists():
            return []
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            texts = log.read().splitlines()
        return [line for line in map(_parsed, texts) if line is not None]

    def tail(self, size: int = 4_000) -> str:
        """The end of the log, at most `size` bytes of it."""
        return self.log.read_bytes()[-size:].decode(errors="replace") if self.log.exists() else ""

    def _running(self) -> subprocess.Popen[bytes]:
        if not self.alive or self._process is None:
            raise WorkerError(f"{self.name} does not run\n{self.tail()}")
        return self._process

    def _signal(self, number: int) -> None:
        if self.alive and self._process is not None:
            self._process.send_signal(number)


class Fleet:
    """Several workers with the same settings: `async with Fleet(...) as workers`."""

    def __init__(
        self, count: int, config: Path, directory: Path, env: Mapping[str, str] | None = None
    ) -> None:
        self.workers = [Worker(f"worker-{i}", config, directory, env) for i in range(count)]

    async def __aenter__(self) -> list[Worker]:
        try:
            for worker in self.workers:
                worker.start()
            await asyncio.gather(*(worker.ready() for worker in self.workers))
        except BaseException:
            self._kill()
            raise
        return self.workers

    async def __aexit__(self, *_error: object) -> None:
        try:
            await asyncio.gather(*(worker.stop() for worker in self.workers))
        finally:
            self._kill()

    def _kill(self) -> None:
        for worker in self.workers:
            worker.kill()


def _source_tables(sources: Mapping[str, str] | Sequence[Settings]) -> Sequence[Settings]:
    if not isinstance(sources, Mapping):
        return sources
    return [{"name": name, "protocol": "ag-ui", "topic": t} for name, t in sources.items()]


def _table(head: str, settings: Settings) -> str:
    lines = [f"{key} = {_toml(value)}" for key, value in settings.items()]
    return "\n".join([head, *lines]).strip() + "\n"


def _toml(value: Any) -> str:
    """JSON's strings, numbers, booleans and lists are TOML's too; its objects are not."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value)


def _parsed(text: bytes) -> dict[str, object] | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) else None


def _status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def _body(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return str(reply.read().decode())
    except urllib.error.HTTPError as error:
        return error.read().decode()
