"""`schemas`: the contract that other teams build on, as it came with this release."""

from __future__ import annotations

import argparse
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import bridge
from bridge.errors import ConfigError


def run(arguments: argparse.Namespace) -> int:
    """List the schemas, or print one as it is."""
    found = schemas()
    if arguments.name is None:
        print(*found, sep="\n")
        return 0
    name = Path(arguments.name).stem
    if name not in found:
        raise ConfigError(f"no schema {arguments.name}: there are {', '.join(found)}")
    print(found[name].read_text(encoding="utf-8"), end="")
    return 0


def schemas() -> dict[str, Traversable]:
    """The files by name: Avro records, and the topics that carry them as AsyncAPI."""
    inside = resources.files(bridge) / "schemas"
    # In a checkout they stand beside the package, where readers of the repository look for them.
    folder = inside if inside.is_dir() else Path(bridge.__file__).parents[1] / "schemas"
    return {Path(file.name).stem: file for file in sorted(folder.iterdir(), key=lambda f: f.name)}
