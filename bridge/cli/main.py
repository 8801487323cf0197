"""The entry point: parse, load the command's module, turn its end into an exit code."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version

from bridge.cli import parser
from bridge.errors import BridgeError
from bridge.observe import logs

Handler = Callable[[argparse.Namespace], int]

INTERRUPTED = 130
"""As a shell reports SIGINT."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    known = parser.build()
    chosen = known.parse_args(arguments)
    if chosen.version:
        print(version("interrupt-bridge"))
        return 0
    if "handler" not in chosen:
        known.print_help()
        return 2
    return _run(chosen)


def _run(chosen: argparse.Namespace) -> int:
    _quiet_logs(chosen.verbose)
    try:
        code = _handler(chosen.handler)(chosen)
        sys.stdout.flush()
        return code
    except BridgeError as error:
        _report(error)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our pipe (head, less) has seen enough; Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _handler(name: str) -> Handler:
    # Loaded here, so that --help does not wait for the Kafka client.
    module, function = name.split(":")
    handler: Handler = getattr(importlib.import_module(module), function)
    return handler


def _quiet_logs(verbose: bool) -> None:
    """A command speaks by its output: the client's own log is noise unless somebody asks."""
    if verbose:
        logs.configure("info", "text")
    else:
        logging.basicConfig(handlers=[logging.NullHandler()], force=True)


def _report(error: BridgeError) -> None:
    for line in str(error).splitlines() or [type(error).__name__]:
        print(f"interrupt-bridge: {error.code}: {logs.escape(line)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
