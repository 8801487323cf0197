"""`pending`: the questions that wait for an answer, once or followed."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterable

from rich.console import Console, Group
from rich.live import Live

from bridge.cli.settings import settings
from bridge.config import Config
from bridge.console.board import Board, Shown
from bridge.console.json_lines import write_line
from bridge.console.table import lines, table
from bridge.errors import ConfigError
from bridge.kafka.clock import OnlookerClock
from bridge.kafka.quorum import cluster_time
from bridge.kafka.reader import Reader, reading

_REFRESH_SECONDS = 1.0
_LEAVE = "Ctrl-C leaves"


def run(arguments: argparse.Namespace) -> int:
    """Print or follow; returns when the topic is read, or with --watch on Ctrl-C."""
    config = settings(arguments)
    source: str | None = arguments.source
    if source is not None and config.sources and config.source(source) is None:
        names = ", ".join(known.name for known in config.sources)
        raise ConfigError(f"--source: no source {source} in the settings; there are {names}")
    if arguments.watch and not arguments.json and not sys.stdout.isatty():
        raise ConfigError("--watch draws on a terminal; in a pipe use --watch --json")
    asyncio.run(_run(config, source, as_json=arguments.json, watch=arguments.watch))
    return 0


async def _run(config: Config, source: str | None, *, as_json: bool, watch: bool) -> None:
    board = Board()
    client = config.kafka.client_kwargs()
    clock = OnlookerClock(None if as_json else await cluster_time(client))
    async with reading(client, config.topics.names()["approvals"]) as reader:
        async for record in reader.to_end():
            clock.read(record.origin.timestamp)
            board.take(record)
        if as_json:
            _print_json(board.pending(source))
            while watch:  # each change as a line, whatever its status has become
                records = await reader.poll(_REFRESH_SECONDS)
                changes = [shown for record in records if (shown := board.take(record))]
                _print_json(shown for shown in changes if source in (None, shown.view.source))
        elif watch:
            await _follow_table(reader, board, clock, source)
        else:
            views, now = [shown.view for shown in board.pending(source)], clock.now()
            if sys.stdout.isatty():
                console = Console()
                console.print(table(views, now, console.width))
            else:
                print(*lines(views, now), sep="\n")
    if board.unreadable:
        print(f"{board.unreadable} records were no approvals", file=sys.stderr)


async def _follow_table(
    reader: Reader, board: Board, clock: OnlookerClock, source: str | None
) -> None:
    console = Console()
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            # Title, heading, caption and the last line take five; a row takes one.
            most = max(1, console.height - 5)
            views = [shown.view for shown in board.pending(source)]
            drawn = table(views, clock.now(), console.width, most)
            live.update(Group(drawn, _LEAVE), refresh=True)
            for record in await reader.poll(_REFRESH_SECONDS):
                clock.read(record.origin.timestamp)
                board.take(record)


def _print_json(approvals: Iterable[Shown]) -> None:
    for shown in approvals:
        write_line(shown.text)
