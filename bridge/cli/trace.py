"""`trace`: the whole story of a thread, read from the topics and told in order of time."""

from __future__ import annotations

import argparse
import asyncio
import base64
import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from bridge.cli.history import Happened, History
from bridge.cli.settings import settings
from bridge.config import Config, Role, Source
from bridge.core.record import Record
from bridge.errors import ConfigError
from bridge.kafka.clients import ClientSettings
from bridge.kafka.reader import reading
from bridge.observe.logs import escape
from bridge.protocols import PROTOCOLS
from bridge.records.instants import rfc3339

# Read after the approvals, because an answer may name nothing but an approval id.
_ROLES: tuple[Role, ...] = (
    "answers",
    "operations",
    "answer-verdicts",
    "resume-commands",
    "dead-letters",
)


def run(arguments: argparse.Namespace) -> int:
    """Print it; a thread nobody mentions is told on stderr, and is no error."""
    config = settings(arguments)
    if arguments.source is not None and config.source(arguments.source) is None:
        names = ", ".join(source.name for source in config.sources) or "none"
        raise ConfigError(f"--source: no source {arguments.source} in the settings: {names}")
    history = History(arguments.thread, arguments.source)
    story = sorted(asyncio.run(_story(config, history)), key=lambda happened: happened.place)
    if arguments.json:
        _print_json(story)
    else:
        _print_lines(story)
    if not story:
        print(f"no record names the thread {escape(arguments.thread)}", file=sys.stderr)
    return 0


async def _story(config: Config, history: History) -> list[Happened]:
    client = config.kafka.client_kwargs()
    story = await _own(config, client, history, "approvals")
    story += await _own(config, client, history, *_ROLES)
    for source in config.sources:
        story += await _events(config, client, history, source)
    return story


async def _own(
    config: Config, client: ClientSettings, history: History, *roles: Role
) -> list[Happened]:
    role_of = {config.topics.name(role): role for role in roles}
    async with reading(client, *role_of) as reader:
        return [
            happened
            async for each in reader.to_end()
            if (happened := history.own(each, role_of[each.origin.topic]))
        ]


async def _events(
    config: Config, client: ClientSettings, history: History, source: Source
) -> list[Happened]:
    protocol = PROTOCOLS[source.protocol].configured(source.options)
    limits = config.limits.for_rules()
    async with reading(client, *source.topic_names) as reader:
        return [
            happened
            async for each in reader.to_end()
            if (happened := history.event(each, source.name, protocol, limits))
        ]


def _print_lines(story: Iterable[Happened]) -> None:
    for happened in story:
        origin = happened.record.origin
        at = rfc3339(origin.timestamp)
        print(f"{at}  {happened.role:<15}  {escape(happened.summary)}  [{escape(str(origin))}]")


def _print_json(story: Iterable[Happened]) -> None:
    for happened in story:
        sys.stdout.buffer.write(msgspec.json.encode(_members(happened)) + b"\n")
    sys.stdout.buffer.flush()


def _members(happened: Happened) -> dict[str, Any]:
    record, origin = happened.record, happened.record.origin
    return {
        "at": rfc3339(origin.timestamp),
        "role": happened.role,
        "summary": happened.summary,
        "topic": origin.topic,
        "partition": origin.partition,
        "offset": origin.offset,
        "key": None if record.key is None else record.key.decode(errors="replace"),
        "headers": [
            [name, (value or b"").decode(errors="replace")] for name, value in record.headers
        ],
        **_value(record),
    }


def _value(record: Record) -> dict[str, Any]:
    """The value as nested JSON, number literals kept; as base64 where it is not JSON."""
    text = record.value or b""
    try:
        return {"value": msgspec.Raw(msgspec.json.format(text, indent=-1))}
    except msgspec.DecodeError:
        return {"value_base64": base64.b64encode(text).decode()}
