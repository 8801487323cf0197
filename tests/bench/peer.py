"""The Kafka Streams application that is compared with: built once, run as a process.

Its sources are no part of this project: `BENCH_PEER` names the directory with Peer.java,
pom.xml and load.py. Nothing is written there; the build goes to a cache directory.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.child import ROOT

DIRECTORY = Path(os.environ.get("BENCH_PEER", ROOT.parent / "shared" / "peers" / "kafka-streams"))
BUILD_S = 600.0
START_S = 60.0
COMMIT_MS = 100
"""The engine's own commit interval under exactly-once."""


class PeerMissing(Exception):
    """The peer cannot be built here; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Where it was built, and its load generator."""

    classpath: str
    load: Path


def build() -> Peer:
    """Compile it, or find it compiled from the same sources. Raises PeerMissing."""
    load = Path(os.environ.get("BENCH_LOAD", DIRECTORY / "load.py"))
    for needed in (DIRECTORY / "Peer.java", DIRECTORY / "pom.xml", load):
        if not needed.exists():
            raise PeerMissing(f"{needed.name} is not there: set BENCH_PEER to its directory")
    for command in ("mvn", "javac", "java"):
        if shutil.which(command) is None:
            raise PeerMissing(f"{command} is not installed")
    sources = b"".join((DIRECTORY / name).read_bytes() for name in ("Peer.java", "pom.xml"))
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    target = cache / "interrupt-bridge" / f"peer-{hashlib.sha256(sources).hexdigest()[:16]}"
    if not target.exists():
        _compile(target)
    return Peer(f"{target / 'classes'}:{target / 'libs'}/*", load)


def _compile(target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        work = Path(name) / "peer"
        (work / "classes").mkdir(parents=True)
        for source in ("Peer.java", "pom.xml"):
            shutil.copy(DIRECTORY / source, work)
        _run(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=libs"], work)
        _run(["javac", "-cp", "libs/*", "-d", "classes", "Peer.java"], work)
        work.rename(target)


def _run(command: list[str], directory: Path) -> None:
    done = subprocess.run(
        command, cwd=directory, check=False, capture_output=True, text=True, timeout=BUILD_S
    )
    if done.returncode != 0:
        raise PeerMissing(f"{command[0]} failed: {(done.stdout + done.stderr)[-500:]}")


@contextmanager
def running(peer: Peer, bootstrap: str) -> Iterator[int]:
    """Its process id, once it says that it has started; stopped at the end of the block."""
    with tempfile.TemporaryDirectory(prefix="bridge-bench-peer-") as scratch:
        log = Path(scratch) / "log"
        command = ["java", "-Xmx600m", "-XX:+UseSerialGC", f"-Djava.io.tmpdir={scratch}"]
        command += ["-cp", peer.classpath, "Peer", bootstrap, "peer", str(COMMIT_MS), "1"]
        with log.open("wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        try:
            _wait_started(process, log)
            yield process.pid
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()


def _wait_started(process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while b"started" not in log.read_bytes():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the peer did not start: {log.read_text()[-500:]}")
        time.sleep(0.1)
