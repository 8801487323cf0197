"""`positions show` and `positions skip`: where slots read, and the way on where one cannot."""

from __future__ import annotations

import argparse
import asyncio
from functools import partial

import msgspec

from bridge.cli.settings import settings
from bridge.config import Config
from bridge.errors import ConfigError
from bridge.kafka import positions
from bridge.kafka.positions import Inputs, Standing
from bridge.records.instants import rfc3339
from bridge.records.topics import OWN_INPUTS

_HEADINGS = ("SLOT", "TOPIC", "PARTITION", "POSITION", "BEGIN", "END", "LAG", "")


def show(arguments: argparse.Namespace) -> int:
    """Print every input partition with its stored position; 0 also where one is lost."""
    config = settings(arguments)
    found = asyncio.run(positions.standings(config.kafka.client_kwargs(), inputs(config)))
    if arguments.json:
        for at in found:
            print(_json(at))
        return 0
    rows = [_HEADINGS, *map(_row, found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if heading == "TOPIC" else cell.rjust(width)
            for cell, width, heading in zip(row, widths, _HEADINGS, strict=True)
        ]
        print("  ".join(cells).rstrip())
    return 0


def skip(arguments: argparse.Namespace) -> int:
    """Move positions of a slot; without --yes only say what it would do. 0 either way."""
    config = settings(arguments)
    slot: int = arguments.slot
    if slot >= config.topics.partitions:
        raise ConfigError(f"--slot: there are 0 to {config.topics.partitions - 1}")
    if arguments.partition is not None and arguments.topic is None:
        raise ConfigError("--partition: needs --topic")
    choose = partial(
        positions.choose,
        slot=slot,
        to=arguments.to,
        topic=arguments.topic,
        partition=arguments.partition,
    )
    client, wanted = config.kafka.client_kwargs(), inputs(config)
    planned = choose(asyncio.run(positions.standings(client, wanted)))
    if not planned:
        print(f"slot {slot} has lost no position: name one with --topic and --partition")
        return 0
    if not arguments.yes:
        print(*planned, sep="\n")
        print("nothing is changed yet: say --yes to do it")
        return 0
    moved = asyncio.run(positions.move(client, config.app_id, wanted, slot, choose))
    print(*moved, sep="\n")
    print("done: the slot goes on from there, at once where a worker has it")
    return 0


def inputs(config: Config) -> Inputs:
    """What the settings' slots read, the bridge's own topics included."""
    names = config.topics.names()
    sources = [topic for source in config.sources for topic in source.topic_names]
    own = [names[role] for role in OWN_INPUTS]
    return Inputs(names, [*sources, *own], config.topics.partitions)


def _json(at: Standing) -> str:
    members = {
        "slot": at.slot,
        "topic": at.topic,
        "partition": at.partition,
        "position": at.position,
        "begin": at.begin,
        "end": at.end,
        "lag": at.lag,
        "lost": at.lost,
        "high": at.high,
        "blocked_by": None,
    }
    if at.blocked_by is not None:
        members["blocked_by"] = {
            "start": at.blocked_by.start,
            "producer_id": at.blocked_by.producer_id,
            "last_written": rfc3339(at.blocked_by.last_written),
        }
    return msgspec.json.encode(members).decode()


def _row(at: Standing) -> tuple[str, ...]:
    numbers = (at.position, at.begin, at.end, at.lag)
    shown = ("-" if number is None else str(number) for number in numbers)
    note, by = "LOST" if at.lost else "", at.blocked_by
    if by is not None and not at.lost:
        since = rfc3339(by.last_written)
        note = f"BLOCKED at {by.start} by producer {by.producer_id} since {since}"
    return (str(at.slot), at.topic, str(at.partition), *shown, note)
