"""`doctor`: is all well? One line for each thing that was looked at, and what to do about it."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import sys

import msgspec

from bridge.cli.positions import inputs
from bridge.cli.settings import settings
from bridge.cli.topics import wanted
from bridge.config import Config
from bridge.console.json_lines import write_line
from bridge.errors import ClusterError
from bridge.kafka.doctor import examine
from bridge.observe.logs import escape

_CLEAR = "\r\x1b[K"


def run(arguments: argparse.Namespace) -> int:
    """Print the checks as they are made. 0 when none failed, else 3."""
    return asyncio.run(_run(settings(arguments), as_json=arguments.json))


async def _run(config: Config, *, as_json: bool) -> int:
    on_terminal = sys.stderr.isatty()

    def show_progress(doing: str) -> None:
        """On a terminal only, and on its last line until the next finding takes its place."""
        if on_terminal:
            print(f"{_CLEAR}asking: {doing} …", end="", file=sys.stderr, flush=True)

    def clear() -> None:
        if on_terminal:
            print(_CLEAR, end="", file=sys.stderr, flush=True)

    grades = []
    async for check in examine(config, wanted(config), inputs(config), show_progress):
        clear()
        if as_json:
            write_line(msgspec.json.encode(dataclasses.asdict(check)))
        else:
            print(escape(str(check)), flush=True)
        grades.append(check.grade)
    clear()
    failed, warned = grades.count("fail"), grades.count("warn")
    said = f"not well: {failed} failed" if failed else "all is well"
    if warned and not failed:
        said = f"it works, with {warned} warnings"
    if not as_json:
        print(said)
    return ClusterError.exit_code if failed else 0
