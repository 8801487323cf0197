"""`run`: one worker in this process."""

from __future__ import annotations

import argparse
import logging

from bridge.cli import faults
from bridge.cli.settings import settings
from bridge.kafka import worker
from bridge.observe import logs

log = logging.getLogger(__name__)


def run(arguments: argparse.Namespace) -> int:
    """Work until told to stop. The exit code says how it ended."""
    config = settings(arguments)
    config.require_sources()
    logs.configure(config.log.level, config.log.format)
    try:
        return worker.run(config)
    except OSError:
        raise  # of the output: said where it can still be said
    except Exception as error:
        ended = faults.explained(error, arguments)
        for line in str(ended).splitlines():
            log.critical("worker ends: %s", line, extra={"code": ended.code})
        return ended.exit_code
