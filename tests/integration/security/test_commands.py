"""What the commands for people say where a right is missing: the right, and how to grant it."""

from __future__ import annotations

import os
import subprocess

import pytest

from bridge.kafka import rights
from bridge.kafka.rights import COMMANDS, Right
from tests.integration.security.house import House

ID = "faf6703e-aba3-8201-b3a3-5057f251dd62"
TYPED = {
    "pending": ["pending"],
    "trace": ["trace", "thread-1"],
    "audit": ["audit"],
    "answer": ["answer", ID, "--cancel", "--wait", "3s"],
    "withdraw": ["withdraw", ID, "--reason", "asked by mistake", "--wait", "3s"],
}
CASES = [
    (command, role, operation)
    for command, roles in COMMANDS.items()
    for role, operations in roles.items()
    for operation in operations
]


@pytest.mark.parametrize(("command", "role", "operation"), CASES)
def test_a_command_names_the_right_that_it_lacks(
    house: House, command: str, role: str, operation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    access = rights.of_command(house.config, command)
    topic = house.events if role == "inputs" else house.prefix + role
    missing = next(r for r in access.needed if (r.operation, r.name) == (operation, topic))
    house.secured.revoke(house.rights)
    others = [right for right in access.needed if right != missing]
    house.secured.grant(others)
    capsys.readouterr()
    try:
        assert house.command(*TYPED[command]) == 3
        said = capsys.readouterr().err
    finally:
        house.secured.revoke(others)
    assert said == f"interrupt-bridge: not_authorized: no {missing} for User:bridge: " + (
        f"{access.principal.add(missing)}\n"
    )


@pytest.mark.parametrize("command", [["positions", "show"], ["positions", "skip"]], ids=" ".join)
def test_a_command_that_takes_a_slot_needs_a_workers_rights(
    house: House, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with house.worker(house.settings(house.secured.login())) as worker:
        worker.serves()
    arguments = ["--slot", "0", "--to", "earliest", "--topic", house.events, "--yes"]
    state = house.prefix + "state"
    for missing in (Right("Read", "topic", state), Right("Write", "topic", state)):
        if command[1] == "show" and missing.operation == "Write":
            continue
        house.secured.revoke([missing])
        capsys.readouterr()
        assert house.command(*command, *(arguments if command[1] == "skip" else [])) == 3
        assert rights.principal(house.config).add(missing) in capsys.readouterr().err
        house.secured.grant([missing])


def test_who_may_not_create_topics_is_told_how_to_be_allowed(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    path = house.settings(house.secured.login())
    path.write_text(path.read_text("utf-8").replace(house.prefix, house.prefix + "other."), "utf-8")
    capsys.readouterr()
    assert house.command("topics", "create", settings=path) == 3
    said = capsys.readouterr().err
    assert "--operation Create --topic" in said
    assert "Traceback" not in said


OUTPUTS = [
    ["pending"],
    ["pending", "--json"],
    ["trace", "thread-1"],
    ["doctor"],
    ["topics", "check"],
    ["positions", "show"],
    ["trace", "thread-1", "--json"],
]


@pytest.mark.parametrize("command", OUTPUTS, ids=" ".join)
def test_no_room_no_reader_and_few_letters_are_no_traceback(
    house: House, command: list[str]
) -> None:
    house.ask("thread-1")
    path = house.settings({"bootstrap_servers": house.secured.broker.bootstrap})
    reading, closed = os.pipe()
    os.close(reading)
    with open("/dev/full", "w", encoding="utf-8") as full:
        for out, codes in ((full, {1}), (closed, {0}), (subprocess.PIPE, {0, 3})):
            done = house.spawn(
                *command,
                settings=path,
                stdout=out,
                stderr=subprocess.PIPE,
                env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUNBUFFERED": ""},
            )
            said = done.stderr.decode()
            assert "Traceback" not in said
            assert "Exception ignored" not in said
            if out is not full or b"could not be written" in done.stderr:
                assert done.returncode in codes, (command, out, said)
    os.close(closed)
