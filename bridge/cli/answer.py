"""`answer` and `withdraw`: write the record, wait for its verdict, say what became of it."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from bridge.cli.settings import settings
from bridge.cli.verdicts import meaning
from bridge.config import Config
from bridge.core import json_text
from bridge.core.durations import format_duration
from bridge.core.ids import home_of_id
from bridge.core.model import Origin
from bridge.errors import ConfigError
from bridge.kafka.post import post
from bridge.kafka.reader import Reader, partition_counts, reading
from bridge.observe.logs import escape
from bridge.records.topics import Role

NOT_ACCEPTED = 4
NO_VERDICT = 5

# `duplicate` says that this very answer was accepted before: whoever sends it again is done.
_DONE = frozenset({"accepted", "duplicate"})


class _At(msgspec.Struct, frozen=True):
    topic: str
    partition: int
    offset: int


class _Problem(msgspec.Struct, frozen=True):
    path: str
    message: str


class _Verdict(msgspec.Struct, frozen=True):
    verdict: str
    origin: _At
    problems: tuple[_Problem, ...] = ()
    open: int | None = None


def answer(arguments: argparse.Namespace) -> int:
    """Send an answer. 0 accepted (or accepted before), 4 not accepted, 5 no verdict in time."""
    value = {
        "approval_id": str(arguments.approval_id),
        "status": "cancelled" if arguments.cancel else "resolved",
        "payload": _payload(arguments),
        "answer_id": arguments.answer_id,
        "answered_by": arguments.by,
        "comment": arguments.comment,
        "action": arguments.action,
    }
    return _send(arguments, "answers", value)


def withdraw(arguments: argparse.Namespace) -> int:
    """Close the run of a question. Exit codes as of `answer`."""
    value = {
        "op": "withdraw",
        "approval_id": str(arguments.approval_id),
        "reason": arguments.reason,
        "by": arguments.by,
    }
    return _send(arguments, "operations", value)


def _payload(arguments: argparse.Namespace) -> msgspec.Raw | None:
    """The payload's own text: parsed to refuse it here, never written anew."""
    if arguments.cancel:
        return None
    option = "--payload" if arguments.payload_file is None else "--payload-file"
    text = arguments.payload.encode() if arguments.payload_file is None else _file(arguments)
    try:
        json_text.read(text)
    except json_text.JsonError as error:
        raise ConfigError(f"{option}: {error}; write JSON, such as '{{\"ok\": true}}'") from None
    return msgspec.Raw(text)


def _file(arguments: argparse.Namespace) -> bytes:
    if arguments.payload_file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(arguments.payload_file).read_bytes()
    except OSError as error:
        raise ConfigError(f"--payload-file: {arguments.payload_file}: {error.strerror}") from error


def _send(arguments: argparse.Namespace, role: Role, value: dict[str, Any]) -> int:
    config = settings(arguments)
    present = {key: member for key, member in value.items() if member is not None}
    text = msgspec.json.encode(present)
    return asyncio.run(_post(config, role, arguments.approval_id, text, arguments.wait))


async def _post(config: Config, role: Role, approval_id: UUID, text: bytes, wait: float) -> int:
    client, topic = config.kafka.client_kwargs(), config.topics.names()[role]
    partitions = (await partition_counts(client, topic))[topic]
    # An approval id begins with its thread's hash: this partition needs no hop to the home slot.
    partition, key = home_of_id(str(approval_id), partitions), str(approval_id).encode()
    if not wait:
        print(f"sent: {await post(client, topic, key, text, partition)}")
        return 0
    # The verdicts' end is fixed before the answer goes out, so its verdict cannot be missed.
    async with reading(client, config.topics.names()["answer-verdicts"], start="end") as reader:
        sent = await post(client, topic, key, text, partition)
        verdict = await _verdict_on(sent, reader, wait)
    return _miss(config, role, sent) if verdict is None else _tell(verdict, role)


async def _verdict_on(sent: Origin, reader: Reader, wait: float) -> _Verdict | None:
    ours = _At(sent.topic, sent.partition, sent.offset)
    deadline = time.monotonic() + wait
    while (left := deadline - time.monotonic()) > 0:
        for record in await reader.poll(min(left, 1.0)):
            verdict = _decode(record.value)
            if verdict is not None and verdict.origin == ours:
                return verdict
    return None


def _decode(value: bytes | None) -> _Verdict | None:
    try:
        return _decoder.decode(value or b"")
    except msgspec.DecodeError:
        return None  # another encoding or a foreign writer: not the verdict we wait for


_decoder = msgspec.json.Decoder(_Verdict)


def _miss(config: Config, role: Role, sent: Origin) -> int:
    print(f"no verdict on {sent} in time. It was written and is not lost.", file=sys.stderr)
    if role == "answers":
        # As workers do with an answer that names no source: the longest of any.
        waits = [source.early_answer_ttl for source in config.sources]
        patience = max(waits, default=config.policy.early_answer_ttl)
        print(
            "Was the question asked yet? If not, the answer waits for it, and gets `unknown` "
            f"after early_answer_ttl ({format_duration(patience)}).",
            file=sys.stderr,
        )
    print("Else: is a worker running? Sending the same again is safe.", file=sys.stderr)
    return NO_VERDICT


def _tell(verdict: _Verdict, role: Role) -> int:
    still_open = "" if verdict.open is None else f" ({verdict.open} of the run still open)"
    means = meaning(verdict.verdict, of_operation=role == "operations")
    print(f"{escape(verdict.verdict)}{still_open}{means}")
    for problem in verdict.problems:
        print(f"  {escape(problem.path) or '(payload)'}: {escape(problem.message)}")
    return 0 if verdict.verdict in _DONE else NOT_ACCEPTED
