"""Each right of the list taken away: all tools name it, nothing is half-written, and granted again
it is found without a restart.
"""

from __future__ import annotations

import pytest

from bridge.kafka import rights
from bridge.kafka.rights import WORKER, Right
from tests.integration.security.house import House

NEEDED = [f"{operation} {role}" for role, operations in WORKER.items() for operation in operations]
NEEDED += ["Read group", "Write transactional-id"]


def right(house: House, needed: str) -> Right:
    """The right of a house by its line in the list."""
    found = dict(zip(NEEDED, house.rights, strict=True))
    return found[needed]


def command(house: House, missing: Right) -> str:
    return rights.principal(house.config).add(missing)


@pytest.mark.parametrize("needed", NEEDED)
def test_each_missing_right_is_named_and_found_once_granted(
    house: House, needed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = right(house, needed)
    grant = command(house, missing)
    house.secured.revoke([missing])
    house.ask("thread-1")
    capsys.readouterr()

    assert house.command("topics", "check") == 3
    out = capsys.readouterr().out
    assert f"no {missing}" in out
    assert grant in out

    assert house.command("doctor") == 3
    assert grant in capsys.readouterr().out

    with house.worker(house.settings(house.secured.login())) as worker:
        worker.says(f"no {missing}", grant)
        ready, reasons = worker.ready()
        assert not ready
        assert missing.operation in reasons
        for role in ("state", "approvals", "answer-verdicts", "resume-commands", "dead-letters"):
            assert house.written(role) == []
        house.secured.grant([missing])
        worker.serves()
        assert worker.stop() == 0
    (approval,) = house.approvals()
    assert approval["thread_id"] == "thread-1"


def test_a_command_to_grant_is_whole() -> None:
    asked = rights.Principal("User:CN=worker,O=Example Ltd", "kafka-1:9093")
    assert asked.add(Right("Write", "transactional-id", "app:bridge.state:", prefixed=True)) == (
        "kafka-acls.sh --bootstrap-server kafka-1:9093 --command-config admin.properties --add "
        "--allow-principal 'User:CN=worker,O=Example Ltd' --operation Write "
        "--transactional-id app:bridge.state: --resource-pattern-type prefixed"
    )


def test_settings_that_may_not_be_read_are_not_called_good(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert house.command("topics", "check") == 3
    out = capsys.readouterr().out
    assert "good:" not in out
    described = [
        Right("DescribeConfigs", "topic", name) for name in house.config.topics.names().values()
    ]
    assert all(command(house, each) in out for each in described)
    house.secured.grant(described)
    try:
        assert house.command("topics", "check") == 0
        assert "good:" in capsys.readouterr().out
    finally:
        house.secured.revoke(described)
