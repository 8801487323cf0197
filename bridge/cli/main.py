"""The entry point: parse, load the command's module, turn its end into an exit code."""

from __future__ import annotations

import argparse
import importlib
import logging
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from bridge.cli import parser, streams
from bridge.errors import BridgeError
from bridge.observe import logs

Handler = Callable[[argparse.Namespace], int]

INTERRUPTED = 130
"""As a shell reports SIGINT."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    streams.prepare()
    try:
        try:
            return _parse_and_run(arguments)
        finally:  # also where argparse has printed its help and exits
            sys.stdout.flush()  # at exit Python would complain in its own way
    except BrokenPipeError:
        # The reader of our pipe (head, less) has seen enough.
        streams.give_up(sys.stdout)
        return 0
    except OSError as error:
        failed = streams.failure(error)
        if failed is None:
            raise
        streams.give_up(sys.stdout)
        _report(failed)
        return failed.exit_code


def _parse_and_run(arguments: Sequence[str] | None) -> int:
    known = parser.build()
    chosen = known.parse_args(arguments)
    if chosen.version:
        # Imported here: it takes longer than all else that --help needs.
        metadata = importlib.import_module("importlib.metadata")
        print(metadata.version("interrupt-bridge"))
        return 0
    if "handler" not in chosen:
        known.print_help()
        return 2
    # A command speaks by its output: the client's own log is noise unless somebody asks for it.
    if chosen.verbose:
        logs.configure("debug", "text")
    else:
        logging.basicConfig(handlers=[logging.NullHandler()], force=True)
    try:
        handler: Handler = _load(chosen.handler)
        return handler(chosen)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        if chosen.verbose and not isinstance(error, BridgeError):
            traceback.print_exc()
        if isinstance(error, OSError) and streams.failure(error):
            raise
        explain = _load("bridge.cli.faults:explained")
        explained: BridgeError = explain(error, chosen)
        _report(explained)
        return explained.exit_code


def _load(name: str) -> Any:
    # When it is needed: --help does not wait for the Kafka client.
    module, function = name.split(":")
    return getattr(importlib.import_module(module), function)


def _report(error: BridgeError) -> None:
    try:
        for line in str(error).splitlines() or [type(error).__name__]:
            print(f"interrupt-bridge: {error.code}: {logs.escape(line)}", file=sys.stderr)
        sys.stderr.flush()
    except OSError:  # nobody is left who reads it
        streams.give_up(sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
