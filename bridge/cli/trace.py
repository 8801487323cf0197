"""`trace`: the whole story of a thread, read from the topics and told in order of time."""

from __future__ import annotations

import argparse
import asyncio
import base64
import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from bridge.cli.history import Happened, History, members
from bridge.cli.settings import settings
from bridge.config import Config, Source
from bridge.console.json_lines import write_line
from bridge.core.record import Record
from bridge.errors import ConfigError, RecordUnreadable
from bridge.kafka.reader import Tell, reading
from bridge.observe.logs import escape
from bridge.records.instants import rfc3339
from bridge.records.reading import is_id
from bridge.records.topics import Role

# Read after the approvals, because an answer may name nothing but an approval id.
_ROLES: tuple[Role, ...] = (
    "answers",
    "operations",
    "answer-verdicts",
    "resume-commands",
    "dead-letters",
)


def run(arguments: argparse.Namespace) -> int:
    """Print it; a thread nobody mentions is told on stderr, and is no error.

    Records that cannot be decoded are told there too. The story may lack something then, which the
    exit code says.
    """
    config = settings(arguments)
    if arguments.source is not None and config.source(arguments.source) is None:
        names = ", ".join(source.name for source in config.sources) or "none"
        given = arguments.source
        raise ConfigError(f"--source: no source {given} in the settings; there are {names}")
    unreadable: list[RecordUnreadable] = []
    told = asyncio.run(_told(config, arguments.thread, arguments.source, unreadable.append))
    story = sorted(told, key=lambda happened: happened.place)
    if arguments.json:
        _print_json(story)
    else:
        _print_lines(story)
    if not story:
        named = escape(arguments.thread)
        print(f"no record names the thread or approval {named}", file=sys.stderr)
    for error in unreadable:
        print(f"{error.code}: {escape(str(error))}", file=sys.stderr)
    return RecordUnreadable.exit_code if unreadable else 0


async def _told(config: Config, named: str, source: str | None, unreadable: Tell) -> list[Happened]:
    """The story of a thread that is named by its id, or by the id of one of its approvals.

    Ids of threads may look like those of approvals: what no record knows as one is the other.
    `answer` takes an approval id in capitals, so it is taken here.
    """
    approval_id = named.lower()
    found = await _asked(config, approval_id) if is_id(approval_id) else None
    thread, of_source = found or (named, source)
    return await _story(config, History(thread, source or of_source), unreadable)


async def _asked(config: Config, approval_id: str) -> tuple[str, str] | None:
    """Thread and source of an approval, as its own records or the verdicts on it have them."""
    roles: tuple[Role, ...] = ("approvals", "answer-verdicts")
    names = [config.topics.names()[role] for role in roles]
    async with reading(config.kafka.client_kwargs(), *names, unreadable=_told_later) as reader:
        async for record in reader.to_end():
            found = members(record)
            thread, source = found.get("thread_id"), found.get("source")
            if found.get("approval_id") == approval_id and thread and source:
                return str(thread), str(source)
    return None


def _told_later(_error: RecordUnreadable) -> None:
    """The story reads the same topics, and tells it once."""


async def _story(config: Config, history: History, unreadable: Tell) -> list[Happened]:
    story = await _own(config, history, unreadable, "approvals")
    story += await _own(config, history, unreadable, *_ROLES)
    for source in config.sources:
        story += await _events(config, history, unreadable, source)
    return story


async def _own(config: Config, history: History, unreadable: Tell, *roles: Role) -> list[Happened]:
    client = config.kafka.client_kwargs()
    role_of = {config.topics.names()[role]: role for role in roles}
    async with reading(client, *role_of, unreadable=unreadable) as reader:
        return [
            happened
            async for each in reader.to_end()
            if (happened := history.own(each, role_of[each.origin.topic]))
        ]


async def _events(
    config: Config, history: History, unreadable: Tell, source: Source
) -> list[Happened]:
    client = config.kafka.client_kwargs()
    protocol = source.agent_protocol()
    limits = config.limits.for_rules()
    async with reading(client, *source.topic_names, unreadable=unreadable) as reader:
        return [
            happened
            async for each in reader.to_end()
            if (happened := history.event(each, source.name, protocol, limits, source.pointer()))
        ]


def _print_lines(story: Iterable[Happened]) -> None:
    for happened in story:
        origin = happened.record.origin
        at = rfc3339(origin.timestamp)
        print(f"{at}  {happened.role:<15}  {escape(happened.summary)}  [{escape(str(origin))}]")


def _print_json(story: Iterable[Happened]) -> None:
    for happened in story:
        write_line(msgspec.json.encode(_members(happened)))


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
