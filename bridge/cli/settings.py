"""`config check`, `config show` and `config path`; and how each command gets its settings."""

from __future__ import annotations

import argparse
import os

from bridge.config import Config, find_file, load
from bridge.config.load import setting_variables


def settings(arguments: argparse.Namespace) -> Config:
    """The settings that the command line, the environment and the file give. Raises ConfigError."""
    return load(find_file(arguments.config))


def check(arguments: argparse.Namespace) -> int:
    """All that a worker's start would refuse, the files it would read included."""
    config = settings(arguments)
    config.require_sources()
    config.kafka.client_kwargs()
    sources = ", ".join(source.name for source in config.sources)
    print(f"good: {config.kafka.bootstrap_servers}, sources {sources}")
    return 0


def show(arguments: argparse.Namespace) -> int:
    """Every setting with its value in force; a secret shows as asterisks."""
    print(settings(arguments).model_dump_json(indent=2))
    return 0


def path(arguments: argparse.Namespace) -> int:
    """Where settings come from: the file, then the variables that override it."""
    print(
        find_file(arguments.config) or "no file (looked for --config, BRIDGE_CONFIG, bridge.toml)"
    )
    for name in setting_variables(os.environ):
        print(name)
    return 0
