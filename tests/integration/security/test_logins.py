"""A login that fails says in one sentence what is wrong and which setting mends it."""

from __future__ import annotations

import pytest

from tests.integration.security.house import House
from tests.secured import Secured

REFUSED = {
    "wrong password": "kafka.sasl_plain_username",
    "wrong plain password": "kafka.sasl_plain_username",
    "unknown mechanism": "kafka.sasl_mechanism",
    "foreign authority": "kafka.ssl_cafile",
    "no authority": "kafka.ssl_cafile",
    "expired server": "certificate has expired: renew it on the brokers",
    "another host": "certificate is for another host",
    "no certificate": "kafka.ssl_certfile",
    "expired certificate": "kafka.ssl_certfile",
    "foreign certificate": "kafka.ssl_certfile",
    "no login": "kafka.security_protocol",
    "no tls": "kafka.security_protocol",
}


def settings(secured: Secured, refused: str) -> dict[str, str]:
    """`[kafka]` that the brokers refuse, or that refuses the brokers."""
    made = secured.made
    certificate = secured.certificate()
    return {
        "wrong password": secured.login(sasl_plain_password="wrong"),
        "wrong plain password": secured.login("PLAIN", sasl_plain_password="wrong"),
        "unknown mechanism": secured.login("SCRAM-SHA-256"),
        "foreign authority": secured.login(ssl_cafile=str(made.foreign_ca)),
        "no authority": without(secured.login(), "ssl_cafile"),
        "expired server": secured.certificate("OLD"),
        "another host": secured.certificate("ELSEWHERE"),
        "no certificate": without(certificate, "ssl_certfile"),
        "expired certificate": secured.certificate(ssl_certfile=str(made.old_client)),
        "foreign certificate": secured.certificate(ssl_certfile=str(made.foreign_client)),
        "no login": secured.certificate("SASL"),
        "no tls": {"bootstrap_servers": certificate["bootstrap_servers"]},
    }[refused]


def without(settings: dict[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in settings.items() if key != name}


def _is_the_end(line: str) -> bool:
    """What a command says when it gives up; of a worker it is a line of its log."""
    return line.startswith("interrupt-bridge:") or '"level": "critical"' in line


@pytest.mark.parametrize("refused", REFUSED)
def test_what_the_brokers_refuse_is_said_with_its_setting(
    house: House, refused: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = house.settings(settings(house.secured, refused))
    capsys.readouterr()
    for command in (["topics", "check"], ["pending"], ["run"]):
        assert house.command(*command, settings=path) == 3, command
        said = capsys.readouterr().err
        told = [line for line in said.splitlines() if _is_the_end(line)]
        assert len(told) == 1, said
        assert REFUSED[refused] in told[0]
        assert "Traceback" not in said


def test_the_doctor_says_it_as_a_finding(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    path = house.settings(settings(house.secured, "wrong password"))
    capsys.readouterr()
    assert house.command("doctor", settings=path) == 3
    assert REFUSED["wrong password"] in capsys.readouterr().out
