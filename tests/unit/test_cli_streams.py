"""Where a command's output goes wrong: no room, no reader, no letters, no stream. No traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "bridge.cli.main"]
TALKERS = (["--help"], ["--version"], ["schemas"], ["schemas", "approval"], ["config", "show"])
LEAST = '[kafka]\nbootstrap_servers = "127.0.0.1:1"\nclient_id = "Grüße-タスク"\n'


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "bridge.toml").write_text(LEAST, encoding="utf-8")
    unwanted = ("BRIDGE_", "PYTHONUNBUFFERED")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    return kept | {"BRIDGE_CONFIG": str(tmp_path / "bridge.toml")}


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", TALKERS[1:], ids=" ".join)
def test_a_full_disk_is_said_in_one_line(
    arguments: list[str], unbuffered: str, environ: dict[str, str]
) -> None:
    environ["PYTHONUNBUFFERED"] = unbuffered
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], check=False, stdout=full, stderr=subprocess.PIPE, env=environ
        )
    assert done.returncode == 1
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("interrupt-bridge: output: the output could not be written (No space")


def test_a_disk_that_is_full_for_both_streams_is_no_traceback_either(
    environ: dict[str, str],
) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [*COMMAND, "schemas"], check=False, stdout=full, stderr=full, env=environ
        )
    assert done.returncode == 1


@pytest.mark.parametrize("arguments", TALKERS, ids=" ".join)
def test_a_reader_that_has_seen_enough_is_no_error(
    arguments: list[str], environ: dict[str, str]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, *arguments], check=False, stdout=writing, stderr=subprocess.PIPE, env=environ
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_terminal_of_few_letters_gets_escapes(environ: dict[str, str]) -> None:
    done = subprocess.run(
        [*COMMAND, "config", "show"],
        check=False,
        capture_output=True,
        env=environ | {"PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"Gr\xfc\xdfe-\u30bf\u30b9\u30af" in done.stdout


def test_a_closed_stream_is_nobody_to_tell(environ: dict[str, str]) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *COMMAND, "schemas"],
        check=False,
        stderr=subprocess.PIPE,
        env=environ,
    )
    assert (done.returncode, done.stderr) == (0, b"")
