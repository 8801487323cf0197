"""What ends a command in an unforeseen way, said as what to do about it; never as a traceback.

It is the one place for all commands: a right that is missing shows late and in many voices, and
whoever types a command needs the same words for it each time.
"""

from __future__ import annotations

import argparse
import asyncio

from aiokafka.errors import KafkaError

from bridge.cli.settings import settings
from bridge.errors import BridgeError, ClusterError
from bridge.kafka import access, rights


class Unexpected(BridgeError):
    """A fault of the bridge's own, or one that nobody has met yet."""


def explained(error: Exception, chosen: argparse.Namespace) -> BridgeError:
    """The error as its command should say it, with the rights it lacks where it died of that."""
    if access.may_be_refused(error):
        # `pending` of bridge.cli.pending:run, `withdraw` of bridge.cli.answer:withdraw.
        module, function = str(chosen.handler).split(":")
        name = module.rpartition(".")[2] if function == "run" else function
        try:
            config = settings(chosen)
            client = config.kafka.client_kwargs()
        except BridgeError:
            pass  # then the settings are not what it died of
        else:
            error = asyncio.run(access.explained(client, rights.of_command(config, name), error))
    if isinstance(error, BridgeError):
        return error
    if isinstance(error, KafkaError):
        return ClusterError(f"The cluster answered {error!r}. Run: interrupt-bridge doctor")
    if isinstance(error, TimeoutError):
        return ClusterError("The cluster did not answer in time. Run: interrupt-bridge doctor")
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    return Unexpected(f"{said}. The option --verbose shows where")
