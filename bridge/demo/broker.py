"""A real Apache Kafka for demonstrations and tests: one KRaft node on free loopback ports.

Data lives in a directory of its own that goes away with the broker; nothing here is meant for
production.
"""

from __future__ import annotations

import base64
import random
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from bridge.demo.kafka_jars import find_java, kafka_jars
from bridge.errors import ClusterError

READY_SECONDS = 120.0
STOP_SECONDS = 20.0  # a clean shutdown of one node takes 1–3 s
START_ATTEMPTS = 3  # for a port that another process took between the look and the start

JVM_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms128m", "-Xmx512m")
"""A quick start and a small footprint; a benchmark wants the optimising compiler instead."""

LOG_OPTIONS = (
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
)

SETTINGS: Mapping[str, str] = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "auto.create.topics.enable": "false",
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
    # Tests bring compaction about by topic settings; the cleaner must only look often enough.
    "log.cleaner.backoff.ms": "1000",
    # A killed node may only come back once its former session has ended: 11 s with the default.
    "broker.session.timeout.ms": "5000",
    "broker.heartbeat.interval.ms": "500",
    # Hundreds of small test partitions: do not preallocate 10 MiB of index for each.
    "log.index.size.max.bytes": "1048576",
}


class BrokerError(ClusterError):
    """The development broker did not do what it should; where it spoke, its log is the message."""

    code = "development_broker"


class DevBroker:
    """One Kafka node: start it, talk to `bootstrap`, hurt it, stop it.

    `settings` are added to (or replace) those of `SETTINGS` in server.properties. All methods
    block; `start` may be called from any thread. A parent that dies, however it dies, takes its
    broker along.
    """

    def __init__(
        self,
        settings: Mapping[str, str] | None = None,
        *,
        jvm_options: Sequence[str] = JVM_OPTIONS,
        log_level: str = "warn",
    ) -> None:
        self._settings = dict(settings or {})
        self._jvm_options = [*jvm_options, f"-Dorg.slf4j.simpleLogger.defaultLogLevel={log_level}"]
        self.cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
        self._dir: Path | None = None
        self._port = 0
        self._java: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def bootstrap(self) -> str:
        """`host:port` for clients; stays the same over `kill` and `restart`."""
        return f"127.0.0.1:{self._port}"

    @property
    def log(self) -> Path:
        """The file with everything the broker said, over all its restarts."""
        return self._directory() / "broker.log"

    @property
    def pid(self) -> int:
        """The process id of the running broker."""
        return self._running().pid

    def start(self) -> str:
        """Format a fresh node, start it and wait until it serves; return `bootstrap`."""
        if self._dir is not None:
            raise BrokerError("this broker was started before: use restart()")
        java = find_java()
        # Kafka's own use of Unsafe would fill the log with warnings from Java 24 on.
        quiet = ["--sun-misc-unsafe-memory-access=allow"] if java.release > 23 else []
        jars = ["-cp", str(kafka_jars() / "*")]
        self._java = [str(java.launcher), *self._jvm_options, *LOG_OPTIONS, *quiet, *jars]
        for attempt in range(1, START_ATTEMPTS + 1):
            self._dir = Path(tempfile.mkdtemp(prefix="interrupt-bridge-kafka-"))
            try:
                self._format()
                self._launch()
                self.wait_ready()
            except BrokerError:
                port_taken = "Address already in use" in self.log_tail()
                self.stop()
                if attempt == START_ATTEMPTS or not port_taken:
                    raise
            except BaseException:
                self.stop()
                raise
            else:
                break
        return self.bootstrap

    def stop(self) -> None:
        """End the broker (SIGTERM, then SIGKILL) and remove its data. Stopping twice is fine."""
        self._terminate()
        if self._dir is not None:
            shutil.rmtree(self._dir, ignore_errors=True)
            self._dir = None

    def kill(self) -> None:
        """SIGKILL, as a crash does; the data stays for `restart`."""
        process = self._running()
        self._dismiss_watchdog()
        process.kill()
        process.wait()
        self._process = None

    def restart(self) -> str:
        """Start again on the same ports and data; a running broker is shut down cleanly first."""
        self._terminate()
        self._launch()
        self.wait_ready()
        return self.bootstrap

    def pause(self) -> None:
        """SIGSTOP: connections stay open, nothing answers."""
        self._running().send_signal(signal.SIGSTOP)

    def cont(self) -> None:
        """SIGCONT after `pause`."""
        self._running().send_signal(signal.SIGCONT)

    def wait_ready(self, timeout: float = READY_SECONDS) -> None:
        """Block until the broker lists itself in its metadata; `timeout` in seconds."""
        deadline = time.monotonic() + timeout
        while not _serves(self._port):
            if self._running().poll() is not None:
                raise BrokerError(f"the broker ended while starting:\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise BrokerError(f"no broker after {timeout:.0f} s:\n{self.log_tail()}")
            time.sleep(0.05)

    def log_tail(self, size: int = 8000) -> str:
        """The end of the log, at most `size` bytes of it."""
        if self._dir is None or not self.log.exists():
            return ""
        with self.log.open("rb") as log:
            log.seek(max(0, self.log.stat().st_size - size))
            return log.read().decode(errors="replace")

    def _directory(self) -> Path:
        if self._dir is None:
            raise BrokerError("the broker is not started")
        return self._dir

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise BrokerError("the broker is not running")
        return self._process

    def _format(self) -> None:
        self._port, controller = free_ports(2)
        directory = self._directory()
        settings = {
            **SETTINGS,
            "log.dirs": str(directory / "data"),
            **self.network(self._port, controller),
            **self._settings,
        }
        lines = [f"{name}={value}" for name, value in settings.items()]
        (directory / "server.properties").write_text("\n".join(lines) + "\n")
        # One word in 64 begins with a hyphen: joined to its option it is not taken for another.
        command = [*self._java, "kafka.tools.StorageTool", "format", f"--cluster-id={self.cluster}"]
        command += ["-c", str(directory / "server.properties")]
        with self.log.open("ab") as log:
            done = subprocess.run(
                command,
                check=False,
                stdout=log,
                stderr=log,
                timeout=READY_SECONDS,
            )
        if done.returncode != 0:
            raise BrokerError(f"the broker's storage was not formatted:\n{self.log_tail()}")

    def network(self, port: int, controller: int) -> dict[str, str]:
        """Where the node listens and who decides: a cluster of its own."""
        return {
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        }

    def _launch(self) -> None:
        directory = self._directory()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*self._java, "kafka.Kafka", str(directory / "server.properties")],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the parent, which stops its broker in turn
            )
        self._watchdog = _watch(self._process.pid, directory)

    def _terminate(self) -> None:
        if self._process is None:
            return
        self._dismiss_watchdog()
        self._process.send_signal(signal.SIGCONT)  # a paused broker would never see the SIGTERM
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _dismiss_watchdog(self) -> None:
        # Always before the broker ends, or the watchdog could meet a reused process id.
        if self._watchdog is not None:
            self._watchdog.kill()
            self._watchdog.communicate()
            self._watchdog = None


def _watch(pid: int, directory: Path) -> subprocess.Popen[bytes]:
    # The pipe closes when the parent ends, whatever ended it. PR_SET_PDEATHSIG would be shorter,
    # but it is bound to the thread that forks, and to Linux.
    script = 'read -r _; kill -9 "$1"; rm -rf "$2"; sleep 1; rm -rf "$2"'
    return subprocess.Popen(
        ["sh", "-c", script, "broker-watchdog", str(pid), str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def free_ports(count: int) -> list[int]:
    # Below the ephemeral ranges of Linux and macOS: a client that reconnects to a closed port
    # inside such a range can connect to itself and so take the port from a restarting broker.
    ports: list[int] = []
    while len(ports) < count:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            if port not in ports and probe.connect_ex(("127.0.0.1", port)) != 0:
                ports.append(port)
    return ports


def _serves(port: int) -> bool:
    # Metadata, version 1, no topics: the least request that shows a registered, unfenced broker.
    request = struct.pack(">hhihi", 3, 1, 1, -1, 0)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            answer = connection.makefile("rb").read(12)
    except OSError:
        return False
    if len(answer) < 12:
        return False
    _size, correlation, brokers = struct.unpack(">iii", answer)
    return bool(correlation == 1 and brokers >= 1)
