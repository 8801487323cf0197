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
from bridge.kafka.doctor import Check, examine
from bridge.observe.logs import escape

_CLEAR = "\r\x1b[K"


def run(arguments: argparse.Namespace) -> int:
    """Print the checks as they are made. 0 when none failed, else 3."""
    return asyncio.run(_run(settings(arguments), as_json=arguments.json))


async def _run(config: Config, *, as_json: bool) -> int:
    grades = []
    async for check in examine(config, wanted(config), inputs(config), _progress):
        _done()
        _print(check, as_json=as_json)
        grades.append(check.grade)
    _done()
    failed, warned = grades.count("fail"), grades.count("warn")
    if not as_json:
        print(_verdict(failed, warned))
    return ClusterError.exit_code if failed else 0


def _print(check: Check, *, as_json: bool) -> None:
    if as_json:
        write_line(msgspec.json.encode(dataclasses.asdict(check)))
    else:
        print(escape(str(check)), flush=True)


def _verdict(failed: int, warned: int) -> str:
    if failed:
        return f"not well: {failed} failed"
    return f"it works, with {warned} warnings" if warned else "all is well"


def _progress(doing: str) -> None:
    """On a terminal only, and on its last line until the next finding takes its place."""
    if sys.stderr.isatty():
        print(f"{_CLEAR}asking: {doing} …", end="", file=sys.stderr, flush=True)


def _done() -> None:
    if sys.stderr.isatty():
        print(_CLEAR, end="", file=sys.stderr, flush=True)
