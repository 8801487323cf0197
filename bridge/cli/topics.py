"""`topics create` and `topics check`."""

from __future__ import annotations

import argparse
import asyncio

from bridge.cli.settings import settings
from bridge.config import Config
from bridge.errors import TopicsWrong
from bridge.kafka import topic_admin
from bridge.kafka.rights import of_worker
from bridge.kafka.topics import Wanted


def create(arguments: argparse.Namespace) -> int:
    """Make what is missing and list what there was; `check` says whether that will do."""
    config = settings(arguments)
    needed = wanted(config, arguments.partitions)
    made = asyncio.run(
        topic_admin.create(config.kafka.client_kwargs(), needed, arguments.replication_factor)
    )
    for name in made.made:
        print(f"created {name}")
    for name in made.existed:
        print(f"exists  {name}")
    if needed.partitions != config.topics.partitions:
        print(
            "what exists keeps the partitions that it has, and all need the same number: see "
            "interrupt-bridge topics check"
            if made.existed
            else f"now set topics.partitions = {needed.partitions} in the settings of every worker"
        )
    return 0


def check(arguments: argparse.Namespace) -> int:
    """Print each difference with what mends it. 3 when there is any, or some were not checked."""
    config = settings(arguments)
    findings = asyncio.run(topic_admin.check(config.kafka.client_kwargs(), wanted(config)))
    for finding in findings:
        print(finding)
    if findings:
        if not any(finding.refuses for finding in findings):
            print("a worker can start, but this was not checked")
        return TopicsWrong.exit_code
    print("good: a worker can start on these topics")
    return 0


def wanted(config: Config, partitions: int | None = None) -> Wanted:
    """What the settings ask of a cluster; `partitions` instead of theirs if given."""
    return Wanted(
        names=config.topics.names(),
        inputs=tuple(topic for source in config.sources for topic in source.topic_names),
        partitions=partitions or config.topics.partitions,
        bootstrap=config.kafka.bootstrap_servers,
        access=of_worker(config),
    )
