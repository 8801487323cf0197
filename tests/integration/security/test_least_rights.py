"""Every way to log in works from question to resume command with the least rights, and at no level
does a password or a payload stand in a log.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from bridge.config import load
from bridge.kafka.doctor.approvals import look_at_approvals
from tests.integration.security.house import CANARY, House, wait
from tests.secured import PASSWORD

SECRETS = (PASSWORD[-11:], CANARY)  # of the password what no encoding of a log would change

LOGINS = {
    "scram-sha-512": ("SCRAM-SHA-512", "debug"),
    "plain": ("PLAIN", "debug"),
    "plain-info": ("PLAIN", "info"),
    "plain-error": ("PLAIN", "error"),
    "certificate": (None, "debug"),
}


COMMANDS = (
    ["pending"],
    ["trace", "thread-1"],
    ["audit"],
    ["positions", "show"],
    ["topics", "check"],
    ["doctor"],
    ["answer", "faf6703e-aba3-8201-b3a3-5057f251dd62", "--payload", f'"{CANARY}"', "--wait", "0s"],
)


def told(text: str) -> list[str]:
    """Which secrets stand in it."""
    return [secret for secret in SECRETS if secret in text]


@pytest.mark.parametrize("login", LOGINS)
def test_the_least_rights_are_enough_and_no_secret_is_logged(house: House, login: str) -> None:
    mechanism, level = LOGINS[login]
    kafka = house.secured.login(mechanism) if mechanism else house.secured.certificate()
    settings = house.settings(kafka, level)
    house.ask("thread-1")
    with house.worker(settings) as worker:
        wait(house.approvals)
        (approval,) = house.approvals()
        answer = json.dumps({"note": CANARY})
        said = house.spawn(
            "answer",
            approval["approval_id"],
            "--payload",
            answer,
            "--verbose",
            settings=house.settings({"bootstrap_servers": house.secured.broker.bootstrap}),
            capture_output=True,
        )
        assert said.returncode == 0, said.stderr
        wait(lambda: bool(house.written("resume-commands")))
        assert worker.stop() == 0
    assert not told(worker.text())
    assert not told(said.stderr.decode())
    (command,) = house.written("resume-commands")
    assert CANARY.encode() in (command.value or b"")


def test_a_worker_cannot_compare_the_approvals_and_the_doctor_says_so(house: House) -> None:
    """It only writes there. With Read the same look finds that each pending one is known."""
    house.ask("thread-1")
    path = house.settings(house.secured.login())
    with house.worker(path) as worker:
        wait(house.approvals)
        assert worker.stop() == 0
    own, topics = load(path).kafka.client_kwargs(), load(path).topics.names()
    (unseen,) = asyncio.run(look_at_approvals(own, topics))
    assert (unseen.grade, unseen.found) == ("warn", "not compared with the state")
    admin = {"bootstrap_servers": house.secured.broker.bootstrap}
    (seen,) = asyncio.run(look_at_approvals(admin, topics))
    assert (seen.grade, seen.found) == ("ok", "each pending one is known to its slot")


def test_no_command_logs_a_secret_however_much_it_tells(house: House) -> None:
    house.ask("thread-1")
    settings = house.settings(house.secured.login("PLAIN"))
    for command in COMMANDS:
        said = house.spawn(*command, "--verbose", settings=settings, capture_output=True)
        assert not told(said.stderr.decode()), command
        assert "Traceback" not in said.stderr.decode(), command
