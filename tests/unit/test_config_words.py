"""What people mistype in a settings file, and the one line that tells them what to write."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bridge.cli.main import main

KAFKA = '[kafka]\nbootstrap_servers = "127.0.0.1:9092"\n'
SOURCE = '[[sources]]\nname = "s"\ntopic = "t"\n'
START = (
    "sources[0].start_from: must be 'earliest' or 'latest' or an instant with its zone, such as "
    "2026-11-29T12:00:00Z"
)

MISTYPED = {
    KAFKA + '[sources]\nname = "s"\ntopic = "t"\n': (
        "sources: there can be several, so write [[sources]], with two brackets, above each"
    ),
    KAFKA + SOURCE + 'start_from = "yesterday"\n': START,
    KAFKA + SOURCE + "start_from = 2026-11-29T12:00:00\n": START,
    KAFKA + '[[sources]]\nname = "s"\ntopics = "t"\n': (
        'sources[0].topics: must be a list, such as ["one", "two"]'
    ),
    KAFKA + '[[sources]]\nname = "s"\ntopic = ["t"]\n': (
        "sources[0].topic: must be one text in quotes"
    ),
    KAFKA + SOURCE + 'options = "x"\n': (
        'sources[0].options: is a table: write its keys in braces, such as { key = "value" }'
    ),
    'kafka = "127.0.0.1:9092"\n' + SOURCE: (
        "kafka: is a section: write [kafka] on a line and its keys below it"
    ),
    KAFKA + '[http]\nport = "9110x"\n' + SOURCE: "http.port: must be a whole number",
    KAFKA + "[http]\nport = 99999\n" + SOURCE: "http.port: must be less than or equal to 65535",
    KAFKA + 'allow_plaintext = "maybe"\n' + SOURCE: "kafka.allow_plaintext: must be true or false",
    '[kafka]\nbootstrap_servers = ""\n' + SOURCE: "kafka.bootstrap_servers: must not be empty",
    KAFKA + '[worker]\nsession_timeout = "1s"\n' + SOURCE: (
        "worker.session_timeout: must be at least 6s"
    ),
    KAFKA + '[worker]\nheartbeat = "9d"\n' + SOURCE: "worker.heartbeat: must be at most 6d",
    KAFKA + '[retention]\nclosed = "0s"\n' + SOURCE: "retention.closed: must be longer than 0s",
    KAFKA + '[[sources]]\nname = "Support Agents"\ntopic = "t"\n': (
        "sources[0].name: takes A-Z, a-z, 0-9, dot, underscore and hyphen, nothing else"
    ),
    KAFKA + f'[[sources]]\nname = "{"s" * 101}"\ntopic = "t"\n': (
        "sources[0].name: must have at most 100 characters"
    ),
    KAFKA + '[log]\nlevel = "loud"\n' + SOURCE: (
        "log.level: must be 'debug', 'info', 'warning' or 'error'"
    ),
}


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("BRIDGE_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(("text", "told"), MISTYPED.items())
def test_one_line_says_what_to_write(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bridge.toml"
    file.write_text(text, "utf-8")
    assert main(["config", "check", "--config", str(file)]) == 2
    assert capsys.readouterr().err.splitlines() == [f"interrupt-bridge: config: {told}"]


def test_where_no_file_is_found_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first thing that a newcomer may do wrong is to stand in another directory."""
    monkeypatch.chdir(tmp_path)
    assert main(["config", "check"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "interrupt-bridge: config: kafka: is required",
        "interrupt-bridge: config: no settings file was read: there is no bridge.toml here, and "
        "--config or BRIDGE_CONFIG names another",
    ]


def test_a_variable_is_told_in_the_words_of_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody can write [[sources]] there."""
    file = tmp_path / "bridge.toml"
    file.write_text(KAFKA, "utf-8")
    monkeypatch.setenv("BRIDGE_SOURCES", '{"name": "s"}')
    assert main(["config", "check", "--config", str(file)]) == 2
    told = capsys.readouterr().err
    assert "sources (from BRIDGE_SOURCES): must be a JSON list, in square brackets" in told


def test_the_last_word_of_a_worker_is_a_log_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the format of the others: whoever reads JSON by line can read it as well."""
    file = tmp_path / "bridge.toml"
    file.write_text(
        '[kafka]\nbootstrap_servers = "127.0.0.1:1"\n[log]\nformat = "json"\n[http]\nport = 0\n'
        + SOURCE,
        "utf-8",
    )
    assert main(["run", "--config", str(file)]) == 3
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert lines[-1]["level"] == "critical"
    assert lines[-1]["message"].startswith("worker ends: ")
    assert lines[-1]["code"] == "unreachable"
