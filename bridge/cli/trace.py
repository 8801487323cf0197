"""`trace`: the whole story of a thread, read from the topics in order of time."""

from __future__ import annotations

import argparse
import asyncio
import base64
import sys
from typing import Any

import msgspec

from bridge.cli.history import Happened, History
from bridge.cli.settings import settings
from bridge.config import Config
from bridge.console.json_lines import write_line
from bridge.errors import ConfigError, RecordUnreadable
from bridge.kafka.reader import Tell, reading
from bridge.observe.logs import escape
from bridge.records import AnswerVerdict, Approval, NotARecord, decode
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
    """Print it; a thread nobody mentions is reported on stderr, and is no error.

    Records that cannot be decoded are named there too. The story may lack something then, which the
    exit code says.
    """
    config = settings(arguments)
    if arguments.source is not None and config.source(arguments.source) is None:
        names = ", ".join(source.name for source in config.sources) or "none"
        given = arguments.source
        raise ConfigError(f"--source: no source {given} in the settings; there are {names}")
    unreadable: list[RecordUnreadable] = []
    happened = asyncio.run(_story(config, arguments.thread, arguments.source, unreadable.append))
    story = sorted(happened, key=lambda each: each.place)
    for each in story:
        origin = each.record.origin
        if arguments.json:
            write_line(msgspec.json.encode(_members(each)))
        else:
            at, place = rfc3339(origin.timestamp), escape(str(origin))
            print(f"{at}  {each.role:<15}  {escape(each.summary)}  [{place}]")
    if not story:
        named = escape(arguments.thread)
        print(f"no record names the thread or approval {named}", file=sys.stderr)
    for error in unreadable:
        print(f"{error.code}: {escape(str(error))}", file=sys.stderr)
    return RecordUnreadable.exit_code if unreadable else 0


async def _story(
    config: Config, named: str, source: str | None, unreadable: Tell
) -> list[Happened]:
    """The story of a thread that is named by its id, or by the id of one of its approvals.

    Ids of threads may look like those of approvals: what no record knows as one is the other.
    `answer` takes an approval id in capitals, so it is taken here.
    """
    approval_id = named.lower()
    found = await _thread_of(config, approval_id) if is_id(approval_id) else None
    thread, of_source = found or (named, source)
    history = History(thread, source or of_source)
    story = await _own(config, history, unreadable, "approvals")
    story += await _own(config, history, unreadable, *_ROLES)
    client, limits = config.kafka.client_kwargs(), config.limits.for_rules()
    for each in config.sources:
        protocol, pointer = each.agent_protocol(), each.pointer()
        async with reading(client, *each.topic_names, unreadable=unreadable) as reader:
            async for record in reader.to_end():
                happened = history.event(record, each.name, protocol, limits, pointer)
                story += [happened] if happened else []
    return story


async def _thread_of(config: Config, approval_id: str) -> tuple[str, str] | None:
    """Thread and source of an approval, as its own records or the verdicts on it have them."""
    kinds: dict[str, type[Approval | AnswerVerdict]] = {
        config.topics.names()["approvals"]: Approval,
        config.topics.names()["answer-verdicts"]: AnswerVerdict,
    }

    def later(_error: RecordUnreadable) -> None:
        """The story reads the same topics, and says it once."""

    async with reading(config.kafka.client_kwargs(), *kinds, unreadable=later) as reader:
        async for record in reader.to_end():
            try:
                found = decode(kinds[record.origin.topic], record)
            except NotARecord:
                continue
            if found and found.approval_id == approval_id and found.thread_id and found.source:
                return found.thread_id, found.source
    return None


async def _own(config: Config, history: History, unreadable: Tell, *roles: Role) -> list[Happened]:
    client = config.kafka.client_kwargs()
    role_of = {config.topics.names()[role]: role for role in roles}
    async with reading(client, *role_of, unreadable=unreadable) as reader:
        return [
            happened
            async for each in reader.to_end()
            if (happened := history.own(each, role_of[each.origin.topic]))
        ]


def _members(happened: Happened) -> dict[str, Any]:
    """As JSON; the value nested, number literals kept, or in base64 where it is not JSON."""
    record, origin = happened.record, happened.record.origin
    text = record.value or b""
    try:
        value: dict[str, Any] = {"value": msgspec.Raw(msgspec.json.format(text, indent=-1))}
    except msgspec.DecodeError:
        value = {"value_base64": base64.b64encode(text).decode()}
    return {
        "at": rfc3339(origin.timestamp),
        "role": happened.role,
        "summary": happened.summary,
        "topic": origin.topic,
        "partition": origin.partition,
        "offset": origin.offset,
        "key": None if record.key is None else record.key.decode(errors="replace"),
        "headers": [
            [name, (said or b"").decode(errors="replace")] for name, said in record.headers
        ],
        **value,
    }
