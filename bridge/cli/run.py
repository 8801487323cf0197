"""`run`: one worker in this process."""

from __future__ import annotations

import argparse

from bridge.cli.settings import settings
from bridge.kafka import worker
from bridge.observe import logs


def run(arguments: argparse.Namespace) -> int:
    """Work until told to stop. The exit code says how it ended."""
    config = settings(arguments)
    config.require_sources()
    logs.configure(config.log.level, config.log.format)
    return worker.run(config)
