"""A worker of the demonstration: a process of its own, known by its id, its log and its port.

It ends with its parent, however that ends, and a SIGKILL is as real as a crash.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge.errors import BridgeError

READY_SECONDS = 60.0
STOP_SECONDS = 30.0  # above the worker's own shutdown deadline of 20 s
_TAIL_LINES = 8


class WorkerEnded(BridgeError):
    """A worker ended by itself; the end of its log is the message."""

    code = "worker_ended"


class WorkerProcess:
    """Started at once. `slots` and `url` are what it last said of itself."""

    def __init__(self, number: int, config: Path, log: Path, environ: Mapping[str, str]) -> None:
        self.number = number
        self.log = log
        self.url = ""
        self.slots: tuple[int, ...] = ()
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bridge.cli.main", "run", "--config", str(config)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=dict(environ),
                start_new_session=True,  # Ctrl-C is for the parent, which stops its workers in turn
            )
        self._watchdog = _watch(self._process.pid, log.parent)

    @property
    def name(self) -> str:
        return f"worker {self.number}"

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    async def look(self) -> bool:
        """Ask for its slots; whether it serves all that it was given.

        Raises WorkerEnded when nobody is there to ask.
        """
        if not self.running:
            raise WorkerEnded(f"{self.name} ended with {self._process.returncode}\n{self.tail()}")
        if not self.url:  # a free port is only known to the worker, which says it in its log
            lines = self.log.read_text(errors="replace").splitlines()
            urls = [str(json.loads(line)["url"]) for line in lines if '"url"' in line]
            self.url = urls[0].removesuffix("/metrics") if urls else ""
        said = await asyncio.to_thread(_ask, f"{self.url}/readyz") if self.url else {}
        states: Mapping[str, str] = said.get("slots", {})
        self.slots = tuple(sorted(map(int, states)))
        return all(state == "serving" for state in states.values())

    async def metrics(self) -> dict[str, float]:
        """What a scrape shows, by series."""
        text = await asyncio.to_thread(_get, f"{self.url}/metrics")
        lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
        return {series: float(value) for series, _, value in lines}

    def kill(self) -> None:
        """SIGKILL: no word to anybody."""
        self._dismiss_watchdog()
        self._process.kill()
        self._process.wait()
        self.slots = ()

    async def stop(self) -> int:
        """SIGTERM, then SIGKILL after a while; the exit code."""
        self._dismiss_watchdog()
        self._process.terminate()
        try:
            return await asyncio.to_thread(self._process.wait, STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def tail(self) -> str:
        """The end of its log."""
        lines = self.log.read_text(errors="replace").splitlines()[-_TAIL_LINES:]
        return "\n".join(f"  {line}" for line in lines)

    def _dismiss_watchdog(self) -> None:
        # Always before the worker ends, or the watchdog could meet a reused process id.
        self._watchdog.kill()
        self._watchdog.communicate()


def _watch(pid: int, directory: Path) -> subprocess.Popen[bytes]:
    """Kills the worker when the pipe closes, which it does when the parent ends."""
    script = 'read -r _; kill -9 "$1"; sleep 1; rm -rf "$2"'
    return subprocess.Popen(
        ["sh", "-c", script, "worker-watchdog", str(pid), str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _ask(url: str) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads(_get(url))
    except OSError:
        return {}
    return said


def _get(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as refusal:
        return refusal.read().decode()  # 503 says which slots are not ready yet
