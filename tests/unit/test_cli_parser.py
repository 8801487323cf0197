"""The command line without a cluster: help, usage errors, settings, exit codes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bridge.cli.main import main

ID = "faf6703e-aba3-8201-b3a3-5057f251dd62"
LEAST = """
[kafka]
bootstrap_servers = "127.0.0.1:1"
[[sources]]
name = "support-agents"
topic = "agents.run-finished"
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A settings file, in a directory and environment that say nothing else."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("BRIDGE_")]:
        monkeypatch.delenv(name)
    made = tmp_path / "settings.toml"
    made.write_text(LEAST, encoding="utf-8")
    return made


def test_help_teaches_by_examples_and_names_the_exit_codes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert "interrupt-bridge answer ID --payload" in out
    assert "4 answer not accepted" in out


def test_no_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "examples:" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["answer", ID],
        ["answer", "not-an-id", "--cancel"],
        ["answer", ID, "--cancel", "--payload", "1"],
        ["answer", ID, "--cancel", "--wait", "30"],
        ["withdraw", ID],
        ["topics"],
        ["topics", "create", "--partitions", "0"],
        ["positions"],
        ["positions", "skip", "--slot", "0"],
        ["positions", "skip", "--slot", "x", "--to", "earliest"],
        ["positions", "skip", "--slot", "0", "--to", "somewhere"],
    ],
)
def test_usage_errors_exit_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


def test_config_check_accepts(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", "--config", str(file)]) == 0
    assert "support-agents" in capsys.readouterr().out


@pytest.mark.parametrize(
    "typed", [["pending", "--jsn"], ["trace", "t", "u"], ["positions", "show", "--slot", "3"]]
)
def test_what_a_command_does_not_know_is_told_with_its_usage(
    typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """That of the outermost command names no option that could have been meant."""
    with pytest.raises(SystemExit) as ended:
        main(typed)
    assert ended.value.code == 2
    told = capsys.readouterr().err
    words = [word for word in typed[:2] if word.isalpha() and len(word) > 1]
    assert told.startswith(f"usage: interrupt-bridge {' '.join(words)} [-h]")
    assert "unrecognized arguments: " in told


def test_config_check_refuses_by_key(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(LEAST + "colour = 1\n", encoding="utf-8")
    assert main(["config", "check", "--config", str(file)]) == 2
    assert "config: sources[0].colour: unknown key" in capsys.readouterr().err


def test_config_show_masks_secrets(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGE_KAFKA__SECURITY_PROTOCOL", "SASL_SSL")
    monkeypatch.setenv("BRIDGE_KAFKA__SASL_PLAIN_USERNAME", "bridge")
    monkeypatch.setenv("BRIDGE_KAFKA__SASL_PLAIN_PASSWORD", "hunter2")
    assert main(["config", "show", "--config", str(file)]) == 0
    out = capsys.readouterr().out
    assert "hunter2" not in out
    shown = json.loads(out)
    assert shown["kafka"]["sasl_plain_password"] == "**********"
    assert shown["worker"]["session_timeout"] == "6s"


def test_config_path_names_file_and_variables(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGE_CONFIG", str(file))
    monkeypatch.setenv("BRIDGE_HTTP__PORT", "0")
    assert main(["config", "path"]) == 0
    assert capsys.readouterr().out.splitlines() == [str(file), "BRIDGE_HTTP__PORT"]


def test_a_payload_that_is_not_json_is_refused_before_anything_is_sent(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for payload in ("{", "NaN", '{"a":1,"a":2}', ""):
        code = main(["answer", ID, "--payload", payload, "--config", str(file)])
        assert (code, "--payload: " in capsys.readouterr().err) == (2, True)


def test_a_missing_payload_file_is_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["answer", ID, "--payload-file", "/no/such", "--config", str(file)]) == 2
    assert "/no/such" in capsys.readouterr().err


def test_watching_in_a_pipe_needs_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pending", "--watch", "--config", str(file)]) == 2
    assert "--json" in capsys.readouterr().err


def test_an_unknown_source_is_named_with_those_there_are(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pending", "--source", "x", "--config", str(file)]) == 2
    assert "support-agents" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--slot", "8"], "there are 0 to 7"), (["--slot", "0", "--partition", "1"], "needs --topic")],
)
def test_a_slot_or_partition_that_cannot_be_is_refused_before_anything_is_asked(
    file: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    command = ["positions", "skip", "--to", "earliest", "--config", str(file), *words]
    assert main(command) == 2
    assert said in capsys.readouterr().err


def test_a_cluster_that_does_not_answer_is_exit_3(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pending", "--config", str(file)]) == 3
    assert "unreachable" in capsys.readouterr().err


def test_the_doctor_says_what_does_not_answer(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What failed is a line like the others, and what depends on it is left out."""
    assert main(["doctor", "--config", str(file)]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "ok    versions",
        "fail  cluster",
        "not well",
    ]


def test_schemas_are_listed_and_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schemas"]) == 0
    names = capsys.readouterr().out.split()
    assert {"approval", "answer", "resume_command", "answer_verdict", "operation"} <= set(names)
    assert main(["schemas", "approval.avsc"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "Approval"


def test_an_unknown_schema_is_named_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["schemas", "approvall"]) == 2
    assert "answer_verdict" in capsys.readouterr().err
