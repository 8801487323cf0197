"""One secured broker for the whole folder, and houses on it: topics, settings and rights."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.security.house import House
from tests.secured import Secured, secured


@pytest.fixture(scope="session")
def secured_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with secured(tmp_path_factory.mktemp("certificates")) as running:
        yield running


@pytest.fixture
def house(
    secured_broker: Secured,
    unique: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[House]:
    """Topics under a name of this test's own, all rights of a worker, and nothing running."""
    for name in [name for name in os.environ if name.startswith("BRIDGE_")]:
        monkeypatch.delenv(name)
    made = House(secured_broker, unique(""), tmp_path)
    made.create_topics()
    secured_broker.grant(made.rights)
    yield made
    secured_broker.revoke(made.rights)
