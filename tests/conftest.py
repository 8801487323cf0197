"""Fixtures of the whole suite: one real Kafka broker, and topics of each test's own.

The broker starts with the first test that asks for it. `BRIDGE_TEST_BOOTSTRAP` (host:port) names a
running one instead, for tests that only need `bootstrap`.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping

import pytest
from aiokafka.admin import NewTopic

from bridge.demo.broker import DevBroker
from tests.topics import MakeTopics, create_topics

BROKER = pytest.StashKey[DevBroker]()
BROKER_FIXTURES = {"broker", "bootstrap", "make_topics", "secured_broker"}


@pytest.hookimpl(tryfirst=True)  # before pytest itself selects by marker
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Whoever uses a broker fixture has the marker, so that `-m "not broker"` can be trusted, and
    the long fault runs run only where `-m` names them."""
    for item in items:
        if BROKER_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("broker")
    if "long" not in config.option.markexpr:
        long = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what the broker said when a test that used it fails."""
    report = yield
    broker = item.config.stash.get(BROKER, None)
    if report.failed and broker is not None and item.get_closest_marker("broker"):
        report.sections.append(("broker log", broker.log_tail()))
    return report


@pytest.fixture(scope="session")
def broker(pytestconfig: pytest.Config) -> Iterator[DevBroker]:
    """The suite's broker. A test that stops or kills it must leave it running again."""
    with DevBroker() as running:
        pytestconfig.stash[BROKER] = running
        yield running


@pytest.fixture
def bootstrap(request: pytest.FixtureRequest) -> str:
    """`host:port` of the suite's broker, or of the one that BRIDGE_TEST_BOOTSTRAP names."""
    given = os.environ.get("BRIDGE_TEST_BOOTSTRAP")
    return given if given else request.getfixturevalue("broker").bootstrap


@pytest.fixture
def unique(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Names that no other test uses: `unique("group")` → `test-name.4f2a….group`."""
    test = re.sub(r"[^a-zA-Z0-9_-]+", "-", request.node.name).strip("-")[:60]
    prefix = f"{test}.{uuid.uuid4().hex[:8]}"
    return lambda name: f"{prefix}.{name}"


@pytest.fixture
def make_topics(bootstrap: str, unique: Callable[[str], str]) -> MakeTopics:
    """Create topics under names of this test's own."""

    async def make(
        *roles: str, partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        names = {role: unique(role) for role in roles}
        topics = [
            NewTopic(n, partitions, 1, topic_configs=dict(config or {})) for n in names.values()
        ]
        await create_topics(bootstrap, topics)
        return names

    return make
