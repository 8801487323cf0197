"""`doctor`: one line for each thing that a worker depends on, and what to do about it."""

from __future__ import annotations

import argparse
import asyncio

from bridge.cli.positions import inputs
from bridge.cli.settings import settings
from bridge.cli.topics import wanted
from bridge.config import Config
from bridge.errors import ClusterError
from bridge.kafka.doctor import examine
from bridge.observe.logs import escape


def run(arguments: argparse.Namespace) -> int:
    """Print the checks as they are made. 0 when none failed, else 3."""
    return asyncio.run(_run(settings(arguments)))


async def _run(config: Config) -> int:
    failed = 0
    async for check in examine(config, wanted(config), inputs(config)):
        print(escape(str(check)), flush=True)
        failed += check.grade == "fail"
    return ClusterError.exit_code if failed else 0
